package compat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

/**
 * Two workers read, transform and write in transactions that carry their offsets, and abort some of them. Whatever
 * happens to the broker meanwhile (COMPAT_RECORDS sets how long it takes), each record comes out once.
 */
final class ExactlyOnce implements Program {
    private static final int PARTITIONS = 3;

    @Override
    public void run(Cluster cluster) throws Exception {
        String given = System.getenv("COMPAT_RECORDS");
        int count = given == null ? 600 : Integer.parseInt(given);
        String from = cluster.topic("in", PARTITIONS);
        String to = cluster.topic("out", PARTITIONS);
        cluster.fill(from, PARTITIONS, count);
        AtomicBoolean done = new AtomicBoolean();
        List<Thread> workers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            int number = i;
            Thread worker = new Thread(() -> work(cluster, from, to, number, done));
            worker.start();
            workers.add(worker);
        }
        try {
            check(cluster, to, count);
        } finally {
            done.set(true);
            for (Thread worker : workers) {
                worker.join();
            }
        }
    }

    /** Reads what is committed until everything is there; nothing may come twice, or out of order. */
    private static void check(Cluster cluster, String topic, int count) {
        Set<String> seen = new HashSet<>();
        Map<Integer, Integer> last = new HashMap<>();
        List<TopicPartition> all = new ArrayList<>();
        for (int i = 0; i < PARTITIONS; i++) {
            all.add(new TopicPartition(topic, i));
        }
        try (KafkaConsumer<String, String> consumer = cluster.consumer(null, "isolation.level", "read_committed")) {
            consumer.assign(all);
            consumer.seekToBeginning(all);
            long end = System.nanoTime() + 180_000_000_000L;
            long quiet = 0;
            while (seen.size() < count || quiet < 10) {
                Check.that(System.nanoTime() < end, "only " + seen.size() + " of " + count + " records came");
                ConsumerRecords<String, String> records = consumer.poll(Cluster.POLL);
                quiet = records.isEmpty() ? quiet + 1 : 0;
                for (ConsumerRecord<String, String> record : records) {
                    Check.that(seen.add(record.value()), "twice: " + record.value() + " at " + record.offset());
                    int number = Integer.parseInt(record.value().substring(5));
                    Integer before = last.put(record.partition(), number);
                    Check.that(before == null || before < number, "out of order: " + number + " after " + before);
                }
            }
        }
        Check.same(count, seen.size(), "records");
    }

    private static void work(Cluster cluster, String from, String to, int number, AtomicBoolean done) {
        Random random = new Random(number);
        String group = cluster.name("workers");
        while (!done.get()) {
            try (KafkaProducer<String, String> producer = cluster.transactional("worker-" + number);
                KafkaConsumer<String, String> consumer = cluster.consumer(group, "isolation.level", "read_committed",
                    "max.poll.records", "10", "session.timeout.ms", "6000", "heartbeat.interval.ms", "500")) {
                producer.initTransactions();
                consumer.subscribe(Collections.singleton(from));
                while (!done.get()) {
                    ConsumerRecords<String, String> records = consumer.poll(Cluster.POLL);
                    if (records.isEmpty()) {
                        continue;
                    }
                    producer.beginTransaction();
                    Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
                    for (ConsumerRecord<String, String> record : records) {
                        TopicPartition partition = new TopicPartition(record.topic(), record.partition());
                        offsets.put(partition, new OffsetAndMetadata(record.offset() + 1));
                        producer.send(new ProducerRecord<>(to, record.partition(), record.key(), "done" + record.value()));
                    }
                    Cluster.sendOffsets(producer, offsets, consumer, group);
                    if (random.nextInt(8) == 0) {
                        producer.abortTransaction();
                        // As if the application had failed: it goes on from what is committed.
                        break;
                    }
                    producer.commitTransaction();
                }
            } catch (KafkaException e) {
                // Fenced, rebalanced or cut off: all of that is over with a new producer and consumer.
                if (System.getenv("COMPAT_VERBOSE") != null) {
                    System.err.println("worker " + number + ": " + e);
                }
            }
        }
    }
}
