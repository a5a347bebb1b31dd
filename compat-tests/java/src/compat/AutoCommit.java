package compat;

import java.util.Collections;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;

/** The consumer commits by itself, on its interval and at its close; the next member goes on from there. */
final class AutoCommit implements Program {
    private static final String[] AUTO = {"enable.auto.commit", "true", "auto.commit.interval.ms", "100"};

    @Override
    public void run(Cluster cluster) throws Exception {
        String topic = cluster.topic("auto-commit", 1);
        String group = cluster.name("auto-commit");
        TopicPartition partition = new TopicPartition(topic, 0);
        cluster.fill(topic, 1, 100);
        try (KafkaConsumer<String, String> consumer = cluster.consumer(group, AUTO)) {
            consumer.subscribe(Collections.singleton(topic));
            Cluster.take(consumer, 100);
            Check.soon("the offset is committed while the consumer polls", () -> {
                consumer.poll(Cluster.POLL);
                try {
                    return cluster.committed(group, partition) == 100;
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            });
            cluster.fill(topic, 1, 20);
            Cluster.take(consumer, 20);
        }
        Check.same(120L, cluster.committed(group, partition), "offset committed at the close");
        cluster.fill(topic, 1, 1);
        try (KafkaConsumer<String, String> consumer = cluster.consumer(group, AUTO)) {
            consumer.subscribe(Collections.singleton(topic));
            List<ConsumerRecord<String, String>> rest = Cluster.take(consumer, 1);
            Check.same(120L, rest.get(0).offset(), "where the next consumer starts");
        }
    }
}
