package compat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** Commits without waiting: callbacks come in order, and the last one holds. */
final class AsyncCommit implements Program {
    @Override
    public void run(Cluster cluster) throws Exception {
        String topic = cluster.topic("async-commit", 1);
        String group = cluster.name("async-commit");
        TopicPartition partition = new TopicPartition(topic, 0);
        cluster.fill(topic, 1, 100);
        List<Long> confirmed = new ArrayList<>();
        List<Exception> errors = new ArrayList<>();
        try (KafkaConsumer<String, String> consumer = cluster.consumer(group, "max.poll.records", "10")) {
            consumer.subscribe(Collections.singleton(topic));
            for (int i = 1; i <= 10; i++) {
                Cluster.take(consumer, 10);
                OffsetAndMetadata offset = new OffsetAndMetadata(10L * i);
                consumer.commitAsync(Collections.singletonMap(partition, offset), (offsets, error) -> {
                    if (error != null) {
                        errors.add(error);
                    } else {
                        confirmed.add(offsets.get(partition).offset());
                    }
                });
            }
            Check.soon("ten callbacks", () -> {
                consumer.poll(Cluster.POLL);
                return confirmed.size() + errors.size() == 10;
            });
        }
        Check.that(errors.isEmpty(), "no commit fails: " + errors);
        for (int i = 0; i < 10; i++) {
            Check.same(10L * (i + 1), confirmed.get(i), "callback " + i);
        }
        Check.same(100L, cluster.committed(group, partition), "committed");
    }
}
