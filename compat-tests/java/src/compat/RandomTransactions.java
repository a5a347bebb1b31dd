package compat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * Producers write transactions across one another into shared partitions; they commit, abort, fall silent until the
 * broker aborts for them, are fenced and are abandoned, at random and for COMPAT_SECONDS, whatever happens to the
 * broker meanwhile. What readers see, from any offset, is then compared with what each producer was promised.
 */
final class RandomTransactions implements Program {
    private static final int PARTITIONS = 3;
    private static final int WRITERS = 4;
    private static final int TIMEOUT_MS = 2500;
    /** So many places of a partition are read from. */
    private static final int PLACES = 400;

    private enum Outcome { COMMITTED, ABORTED, UNKNOWN }

    /** A transaction as its producer knows it. */
    private static final class Known {
        Outcome outcome = Outcome.ABORTED;
        /** Partition of each record that was handed over. */
        final Map<String, Integer> records = new HashMap<>();
        /** Where those are that were acknowledged. */
        final Map<String, Long> acknowledged = new HashMap<>();
    }

    private final List<Known> all = Collections.synchronizedList(new ArrayList<>());

    @Override
    public void run(Cluster cluster) throws Exception {
        String given = System.getenv("COMPAT_SECONDS");
        long seconds = given == null ? 6 : Long.parseLong(given);
        String topic = cluster.topic("random", PARTITIONS);
        AtomicBoolean done = new AtomicBoolean();
        List<Thread> threads = new ArrayList<>();
        List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
        List<TreeMap<Long, String>> followed = maps();
        List<TreeMap<Long, String>> followedAll = maps();
        threads.add(start(failures, () -> follow(cluster, topic, "read_committed", followed, done)));
        threads.add(start(failures, () -> follow(cluster, topic, "read_uncommitted", followedAll, done)));
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        List<Thread> writers = new ArrayList<>();
        for (int i = 0; i < WRITERS; i++) {
            int number = i;
            writers.add(start(failures, () -> write(cluster, topic, number, end)));
        }
        for (Thread writer : writers) {
            writer.join();
        }
        // What the last producers left open is aborted.
        for (int i = 0; i < WRITERS; i++) {
            open(cluster, i).close();
        }
        List<TreeMap<Long, String>> committed = read(cluster, topic, "read_committed");
        List<TreeMap<Long, String>> everything = read(cluster, topic, "read_uncommitted");
        done.set(true);
        for (Thread thread : threads) {
            thread.join();
        }
        if (!failures.isEmpty()) {
            throw new AssertionError(failures.toString(), failures.get(0));
        }
        Check.that(all.size() > WRITERS, "only " + all.size() + " transactions");
        for (int i = 0; i < PARTITIONS; i++) {
            within(followed.get(i), committed.get(i), "committed records of partition " + i);
            within(followedAll.get(i), everything.get(i), "records of partition " + i);
        }
        compare(committed, everything);
        fromAnywhere(cluster, topic, committed);
    }

    private interface Work {
        void run() throws Exception;
    }

    private static Thread start(List<Throwable> failures, Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Throwable e) {
                failures.add(e);
            }
        });
        thread.start();
        return thread;
    }

    private static List<TreeMap<Long, String>> maps() {
        List<TreeMap<Long, String>> maps = new ArrayList<>();
        for (int i = 0; i < PARTITIONS; i++) {
            maps.add(new TreeMap<>());
        }
        return maps;
    }

    private static KafkaProducer<String, String> open(Cluster cluster, int writer)
        throws ReflectiveOperationException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (true) {
            KafkaProducer<String, String> producer = cluster.producer("transactional.id", cluster.name("random-" + writer),
                "acks", "all", "enable.idempotence", "true", "transaction.timeout.ms", Integer.toString(TIMEOUT_MS),
                "max.block.ms", "10000", "request.timeout.ms", "4000", "delivery.timeout.ms", "8000", "linger.ms", "1");
            try {
                producer.initTransactions();
                return producer;
            } catch (KafkaException e) {
                abandon(producer);
                Check.that(System.nanoTime() < end, "no producer can begin: " + e);
            }
        }
    }

    private void write(Cluster cluster, String topic, int writer, long end) throws Exception {
        Random random = new Random(writer);
        int number = 0;
        while (System.nanoTime() < end) {
            KafkaProducer<String, String> producer = open(cluster, writer);
            boolean usable = true;
            while (usable && System.nanoTime() < end) {
                Known known = new Known();
                usable = transaction(cluster, producer, topic, writer, number++, random, known);
                all.add(known);
            }
            abandon(producer);
        }
    }

    /** Closes without waiting. Client 2.1 has another method for it than 2.2 and later. */
    private static void abandon(KafkaProducer<String, String> producer) throws ReflectiveOperationException {
        try {
            KafkaProducer.class.getMethod("close", Duration.class).invoke(producer, Duration.ZERO);
        } catch (NoSuchMethodException e) {
            KafkaProducer.class.getMethod("close", long.class, TimeUnit.class).invoke(producer, 0L, TimeUnit.MILLISECONDS);
        }
    }

    /** One transaction; false if its producer is of no more use. Until a commit is asked for it counts as aborted. */
    private static boolean transaction(Cluster cluster, KafkaProducer<String, String> producer, String topic, int writer,
        int number, Random random, Known known) throws Exception {
        try {
            producer.beginTransaction();
            Map<String, Future<RecordMetadata>> sent = new HashMap<>();
            int count = 1 + random.nextInt(6);
            for (int i = 0; i < count; i++) {
                int partition = random.nextInt(PARTITIONS);
                String value = writer + "/" + number + "/" + i;
                known.records.put(value, partition);
                sent.put(value, producer.send(new ProducerRecord<>(topic, partition, null, value)));
                if (random.nextInt(3) == 0) {
                    producer.flush();
                }
            }
            producer.flush();
            boolean refused = false;
            for (Map.Entry<String, Future<RecordMetadata>> one : sent.entrySet()) {
                try {
                    known.acknowledged.put(one.getKey(), one.getValue().get().offset());
                } catch (java.util.concurrent.ExecutionException e) {
                    refused = true;
                }
            }
            int choice = random.nextInt(100);
            if (refused || choice < 20) {
                producer.abortTransaction();
                return true;
            }
            if (choice < 24) {
                // The broker aborts it meanwhile.
                Thread.sleep(TIMEOUT_MS + 500);
            } else if (choice < 28) {
                open(cluster, writer).close();
                boolean fenced = false;
                try {
                    producer.commitTransaction();
                } catch (KafkaException e) {
                    fenced = true;
                }
                Check.that(fenced, "a fenced producer commits " + writer + "/" + number);
                return false;
            } else if (choice < 31) {
                return false;
            }
        } catch (KafkaException e) {
            return false;
        }
        return commit(producer, known);
    }

    private static boolean commit(KafkaProducer<String, String> producer, Known known) {
        known.outcome = Outcome.UNKNOWN;
        while (true) {
            try {
                producer.commitTransaction();
                known.outcome = Outcome.COMMITTED;
                return true;
            } catch (TimeoutException e) {
                // It may be asked again.
            } catch (KafkaException e) {
                return false;
            }
        }
    }

    private static KafkaConsumer<String, String> reader(Cluster cluster, String topic, String isolation) {
        KafkaConsumer<String, String> consumer = cluster.consumer(null, "isolation.level", isolation,
            "max.partition.fetch.bytes", "4000", "fetch.max.wait.ms", "100");
        consumer.assign(partitions(topic));
        consumer.seekToBeginning(partitions(topic));
        return consumer;
    }

    private static List<TopicPartition> partitions(String topic) {
        List<TopicPartition> partitions = new ArrayList<>();
        for (int i = 0; i < PARTITIONS; i++) {
            partitions.add(new TopicPartition(topic, i));
        }
        return partitions;
    }

    private static void note(ConsumerRecords<String, String> records, List<TreeMap<Long, String>> seen) {
        for (ConsumerRecord<String, String> record : records) {
            String before = seen.get(record.partition()).put(record.offset(), record.value());
            Check.that(before == null, "delivered twice: " + record);
        }
    }

    /** Reads along while everything goes on. */
    private static void follow(Cluster cluster, String topic, String isolation, List<TreeMap<Long, String>> seen,
        AtomicBoolean done) {
        try (KafkaConsumer<String, String> consumer = reader(cluster, topic, isolation)) {
            while (!done.get()) {
                note(consumer.poll(Cluster.POLL), seen);
            }
        }
    }

    /** Reads everything, up to the ends; nothing is open any more. */
    private static List<TreeMap<Long, String>> read(Cluster cluster, String topic, String isolation) {
        List<TreeMap<Long, String>> seen = maps();
        try (KafkaConsumer<String, String> consumer = reader(cluster, topic, isolation);
            KafkaConsumer<String, String> other = reader(cluster, topic, "read_uncommitted")) {
            Map<TopicPartition, Long> ends = other.endOffsets(partitions(topic));
            Check.soon("the ends of " + topic + ": " + ends, () -> {
                note(consumer.poll(Cluster.POLL), seen);
                return ends.entrySet().stream().allMatch(end -> consumer.position(end.getKey()) >= end.getValue());
            });
        }
        return seen;
    }

    /** What was seen along the way is the beginning of what is there at the end. */
    private static void within(TreeMap<Long, String> along, TreeMap<Long, String> end, String what) {
        if (!along.isEmpty()) {
            Check.same(new TreeMap<>(end.headMap(along.lastKey(), true)), along, what);
        }
    }

    private void compare(List<TreeMap<Long, String>> committed, List<TreeMap<Long, String>> everything) {
        Map<String, Long> there = new HashMap<>();
        Map<String, Long> visible = new HashMap<>();
        for (int i = 0; i < PARTITIONS; i++) {
            for (Map.Entry<Long, String> record : everything.get(i).entrySet()) {
                Check.that(there.put(record.getValue(), record.getKey()) == null, "written twice: " + record);
            }
            for (Map.Entry<Long, String> record : committed.get(i).entrySet()) {
                Check.same(everything.get(i).get(record.getKey()), record.getValue(), "a committed record");
                visible.put(record.getValue(), record.getKey());
            }
        }
        int[] counts = new int[Outcome.values().length];
        for (Known known : all) {
            counts[known.outcome.ordinal()]++;
            known.acknowledged.forEach((value, offset) -> Check.same(offset, there.get(value), "the place of " + value));
            long seen = known.records.keySet().stream().filter(visible::containsKey).count();
            boolean whole = seen == known.records.size();
            boolean fine = known.outcome == Outcome.COMMITTED ? whole
                : known.outcome == Outcome.ABORTED ? seen == 0 : whole || seen == 0;
            Check.that(fine, known.outcome + ", and " + seen + " are visible of " + known.records);
        }
        System.out.printf("transactions: %d committed, %d aborted, %d unknown%n", counts[0], counts[1], counts[2]);
    }

    /** Whoever begins at an offset sees the committed records from there on, and nothing else. */
    private static void fromAnywhere(Cluster cluster, String topic, List<TreeMap<Long, String>> committed) {
        try (KafkaConsumer<String, String> consumer = cluster.consumer(null, "isolation.level", "read_committed",
            "max.partition.fetch.bytes", "1500", "fetch.max.wait.ms", "10")) {
            for (TopicPartition partition : partitions(topic)) {
                TreeMap<Long, String> expected = committed.get(partition.partition());
                if (expected.isEmpty()) {
                    continue;
                }
                consumer.assign(Collections.singleton(partition));
                long step = Math.max(1, expected.lastKey() / PLACES);
                for (long offset = 0; offset <= expected.lastKey(); offset += step) {
                    consumer.seek(partition, offset);
                    TreeMap<Long, String> seen = new TreeMap<>();
                    Check.soon("records from " + offset, () -> {
                        consumer.poll(Cluster.POLL).forEach(record -> seen.put(record.offset(), record.value()));
                        return !seen.isEmpty();
                    });
                    Check.same(new TreeMap<>(expected.subMap(offset, true, seen.lastKey(), true)), seen, "from " + offset);
                }
            }
        }
    }
}
