package compat;

import java.util.Collections;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** Commits what it chooses, with its own words, and goes on from there; uncommitted records come again. */
final class SyncCommit implements Program {
    @Override
    public void run(Cluster cluster) throws Exception {
        String topic = cluster.topic("sync-commit", 1);
        String group = cluster.name("sync-commit");
        TopicPartition partition = new TopicPartition(topic, 0);
        cluster.fill(topic, 1, 100);
        try (KafkaConsumer<String, String> consumer = cluster.consumer(group, "max.poll.records", "10")) {
            consumer.subscribe(Collections.singleton(topic));
            Cluster.take(consumer, 10);
            consumer.commitSync();
            Check.same(10L, cluster.committed(group, partition), "everything polled is committed");
            for (ConsumerRecord<String, String> record : Cluster.take(consumer, 10)) {
                if (record.offset() == 14) {
                    OffsetAndMetadata chosen = new OffsetAndMetadata(15, "up to " + record.value());
                    consumer.commitSync(Collections.singletonMap(partition, chosen));
                }
            }
        }
        OffsetAndMetadata committed = cluster.committed(group).get(partition);
        Check.same(15L, committed.offset(), "the offset chosen");
        Check.same("up to v14", committed.metadata(), "the words beside it");
        try (KafkaConsumer<String, String> consumer = cluster.consumer(group)) {
            consumer.subscribe(Collections.singleton(topic));
            Check.same(15L, Cluster.take(consumer, 85).get(0).offset(), "where the next consumer starts");
        }
    }
}
