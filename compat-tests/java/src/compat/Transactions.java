package compat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ProducerFencedException;

/** Commits and aborts of several producers on shared partitions: read_committed sees all of the one and none of the other. */
final class Transactions implements Program {
    private static final int PARTITIONS = 2;
    private static final int ROUNDS = 30;

    @Override
    public void run(Cluster cluster) throws Exception {
        String topic = cluster.topic("transactions", PARTITIONS);
        List<List<String>> promised = new ArrayList<>();
        for (int i = 0; i < PARTITIONS; i++) {
            promised.add(new ArrayList<>());
        }
        int sent = 0;
        try (KafkaProducer<String, String> a = cluster.transactional("a"); KafkaProducer<String, String> b = cluster.transactional("b")) {
            a.initTransactions();
            b.initTransactions();
            for (int round = 0; round < ROUNDS; round++) {
                a.beginTransaction();
                b.beginTransaction();
                boolean keepA = round % 4 != 1;
                boolean keepB = round % 3 == 0;
                List<ProducerRecord<String, String>> records = new ArrayList<>();
                for (int i = 0; i < 4; i++) {
                    int partition = i % PARTITIONS;
                    String value = "round " + round + " record " + i;
                    // Each is in the log before the next: the transactions lie across one another.
                    a.send(new ProducerRecord<>(topic, partition, "a", "a " + value)).get();
                    b.send(new ProducerRecord<>(topic, partition, "b", "b " + value)).get();
                    sent += 2;
                    if (keepA) {
                        promised.get(partition).add("a " + value);
                    }
                    if (keepB) {
                        promised.get(partition).add("b " + value);
                    }
                }
                if (round % 5 == 0) {
                    end(b, keepB);
                    end(a, keepA);
                } else {
                    end(a, keepA);
                    end(b, keepB);
                }
            }
        }
        int kept = promised.stream().mapToInt(List::size).sum();
        for (int partition = 0; partition < PARTITIONS; partition++) {
            TopicPartition one = new TopicPartition(topic, partition);
            Check.same(promised.get(partition), committed(cluster, one, 0), "committed records, in order");
            // From the middle of the log on: what was aborted before and ends behind counts, too.
            for (long from = 1; from < 60; from += 13) {
                List<String> tail = committed(cluster, one, from);
                List<String> all = promised.get(partition);
                Check.same(all.subList(all.size() - tail.size(), all.size()), tail, "committed records from " + from);
            }
        }
        List<ConsumerRecord<String, String>> seen = new ArrayList<>();
        try (KafkaConsumer<String, String> dirty = cluster.consumer(null)) {
            List<TopicPartition> both = new ArrayList<>();
            both.add(new TopicPartition(topic, 0));
            both.add(new TopicPartition(topic, 1));
            dirty.assign(both);
            seen.addAll(Cluster.take(dirty, sent));
        }
        Check.that(seen.size() > kept, "read_uncommitted sees the aborted ones, too");
        zombies(cluster, topic);
        openHoldsBack(cluster);
    }

    private static void end(KafkaProducer<String, String> producer, boolean commit) {
        if (commit) {
            producer.commitTransaction();
        } else {
            producer.abortTransaction();
        }
    }

    private static List<String> committed(Cluster cluster, TopicPartition partition, long from) {
        List<String> values = new ArrayList<>();
        try (KafkaConsumer<String, String> consumer = cluster.consumer(null, "isolation.level", "read_committed", "fetch.max.wait.ms", "50")) {
            consumer.assign(Collections.singleton(partition));
            consumer.seek(partition, from);
            long end = consumer.endOffsets(Collections.singleton(partition)).get(partition);
            Check.soon("the end of " + partition, () -> {
                consumer.poll(Cluster.POLL).forEach(record -> values.add(record.value()));
                return consumer.position(partition) >= end;
            });
        }
        return values;
    }

    /** A second producer with the same id fences the first, and what that one had open is gone. */
    private static void zombies(Cluster cluster, String topic) throws Exception {
        TopicPartition partition = new TopicPartition(topic, 0);
        int before = committed(cluster, partition, 0).size();
        try (KafkaProducer<String, String> old = cluster.transactional("zombie")) {
            old.initTransactions();
            old.beginTransaction();
            old.send(new ProducerRecord<>(topic, 0, "z", "of the zombie")).get();
            try (KafkaProducer<String, String> successor = cluster.transactional("zombie")) {
                successor.initTransactions();
                successor.beginTransaction();
                successor.send(new ProducerRecord<>(topic, 0, "z", "of the successor")).get();
                boolean refused = false;
                try {
                    old.send(new ProducerRecord<>(topic, 0, "z", "too late")).get();
                    old.commitTransaction();
                } catch (ExecutionException e) {
                    refused = e.getCause() instanceof KafkaException;
                } catch (ProducerFencedException e) {
                    refused = true;
                } catch (KafkaException e) {
                    refused = true;
                }
                Check.that(refused, "the zombie is fenced");
                successor.commitTransaction();
            }
        }
        List<String> after = committed(cluster, partition, 0);
        Check.same(before + 1, after.size(), "one more record");
        Check.same("of the successor", after.get(before), "the last record");
    }

    /** Plain records behind an open transaction come with its end. */
    private static void openHoldsBack(Cluster cluster) throws Exception {
        String topic = cluster.topic("held-back", 1);
        TopicPartition partition = new TopicPartition(topic, 0);
        try (KafkaProducer<String, String> open = cluster.transactional("open");
            KafkaProducer<String, String> plain = cluster.producer();
            KafkaConsumer<String, String> consumer = cluster.consumer(null, "isolation.level", "read_committed", "fetch.max.wait.ms", "6000")) {
            open.initTransactions();
            open.beginTransaction();
            open.send(new ProducerRecord<>(topic, 0, "o", "open")).get();
            plain.send(new ProducerRecord<>(topic, 0, "p", "plain")).get();
            consumer.assign(Collections.singleton(partition));
            consumer.seekToBeginning(Collections.singleton(partition));
            Check.same(0L, consumer.endOffsets(Collections.singleton(partition)).get(partition), "last stable offset");
            Check.that(consumer.poll(Cluster.POLL).isEmpty(), "nothing is stable");
            long start = System.nanoTime();
            open.commitTransaction();
            List<ConsumerRecord<String, String>> seen = Cluster.take(consumer, 2);
            Check.same("open", seen.get(0).value(), "first");
            Check.same("plain", seen.get(1).value(), "second");
            Check.that(System.nanoTime() - start < 3_000_000_000L, "the waiting fetch is woken by the commit");
        }
    }
}
