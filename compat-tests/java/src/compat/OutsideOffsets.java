package compat;

import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;

/**
 * Offsets live with the results, outside Kafka: a rebalance listener stores the position of what is taken away
 * and seeks to the stored one in what is given. Every record is worked on exactly once, through rebalances.
 */
final class OutsideOffsets implements Program {
    private final Map<TopicPartition, Long> store = new HashMap<>();
    private final Set<String> done = new HashSet<>();
    private int revocations;

    private final class Listener implements ConsumerRebalanceListener {
        private final KafkaConsumer<String, String> consumer;

        Listener(KafkaConsumer<String, String> consumer) {
            this.consumer = consumer;
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            revocations += partitions.isEmpty() ? 0 : 1;
            partitions.forEach(partition -> store.put(partition, consumer.position(partition)));
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            partitions.forEach(partition -> consumer.seek(partition, store.getOrDefault(partition, 0L)));
        }
    }

    private int work(KafkaConsumer<String, String> consumer) {
        int records = 0;
        for (ConsumerRecord<String, String> record : consumer.poll(Cluster.POLL)) {
            Check.that(done.add(record.value()), "a record comes only once: " + record.value());
            records++;
        }
        return records;
    }

    @Override
    public void run(Cluster cluster) throws Exception {
        String topic = cluster.topic("outside", 6);
        String group = cluster.name("outside");
        cluster.fill(topic, 6, 600);
        int[] ofSecond = new int[1];
        try (KafkaConsumer<String, String> first = cluster.consumer(group, "max.poll.records", "10")) {
            first.subscribe(Collections.singleton(topic), new Listener(first));
            Check.soon("the first consumer works", () -> {
                work(first);
                return done.size() >= 100;
            });
            try (KafkaConsumer<String, String> second = cluster.consumer(group, "max.poll.records", "1")) {
                second.subscribe(Collections.singleton(topic), new Listener(second));
                Check.soon("the second consumer gets work of the first", () -> {
                    if (first.assignment().size() > 3) {
                        first.pause(first.assignment());
                    }
                    work(first);
                    ofSecond[0] += work(second);
                    return ofSecond[0] >= 5 && second.assignment().size() == 3;
                });
                // Old clients do not call the listener at a close.
                second.assignment().forEach(partition -> store.put(partition, second.position(partition)));
            }
            Check.soon("the first consumer finishes", () -> {
                work(first);
                return done.size() == 600;
            });
        }
        Check.that(revocations >= 2, "partitions were taken away at least twice: " + revocations);
        Check.same(Collections.emptyMap(), cluster.committed(group), "offsets in Kafka");
    }
}
