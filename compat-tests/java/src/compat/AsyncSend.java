package compat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/** Sends without waiting; each callback says where its record went, and there it is. */
final class AsyncSend implements Program {
    private static final int COUNT = 1000;

    @Override
    public void run(Cluster cluster) throws Exception {
        String topic = cluster.topic("async", 3);
        ConcurrentLinkedQueue<Throwable> errors = new ConcurrentLinkedQueue<>();
        Map<String, RecordMetadata> placed = new HashMap<>();
        try (KafkaProducer<String, String> producer = cluster.producer("acks", "all", "linger.ms", "2")) {
            for (int i = 0; i < COUNT; i++) {
                String value = "v" + i;
                producer.send(new ProducerRecord<>(topic, "k" + i % 50, value), (metadata, error) -> {
                    if (error != null) {
                        errors.add(error);
                    } else {
                        synchronized (placed) {
                            placed.put(value, metadata);
                        }
                    }
                });
            }
            producer.flush();
        }
        Check.that(errors.isEmpty(), "no callback gets an error: " + errors);
        Check.same(COUNT, placed.size(), "callbacks");

        List<ConsumerRecord<String, String>> seen = cluster.all(topic, 3, COUNT);
        Map<String, Integer> partitionOfKey = new HashMap<>();
        Map<Integer, List<Integer>> order = new HashMap<>();
        for (ConsumerRecord<String, String> record : seen) {
            RecordMetadata metadata = placed.get(record.value());
            Check.same(metadata.partition(), record.partition(), "partition of " + record.value());
            Check.same(metadata.offset(), record.offset(), "offset of " + record.value());
            Check.same(metadata.timestamp(), record.timestamp(), "timestamp of " + record.value());
            Integer before = partitionOfKey.put(record.key(), record.partition());
            Check.that(before == null || before == record.partition(), "a key stays in its partition");
            order.computeIfAbsent(record.partition(), p -> new ArrayList<>())
                .add(Integer.valueOf(record.value().substring(1)));
        }
        for (List<Integer> values : order.values()) {
            List<Integer> sorted = new ArrayList<>(values);
            sorted.sort(null);
            Check.same(sorted, values, "records come in the order in which they were sent");
        }
    }
}
