package compat;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** The broker under test, with what nearly every program needs of it. Names are unique to one run. */
final class Cluster {
    /** Of each topic. */
    private static final short REPLICAS = Short.parseShort(System.getenv().getOrDefault("COMPAT_REPLICAS", "1"));
    static final Duration POLL = Duration.ofMillis(100);
    private final String bootstrap;
    private final String run = Long.toString(System.nanoTime(), 36);

    Cluster(String bootstrap) {
        this.bootstrap = bootstrap;
    }

    String name(String what) {
        return what + "-" + run;
    }

    /** A new topic. */
    String topic(String what, int partitions) throws Exception {
        NewTopic topic = new NewTopic(name(what), partitions, REPLICAS);
        try (AdminClient admin = admin()) {
            admin.createTopics(Collections.singleton(topic)).all().get();
        }
        return topic.name();
    }

    AdminClient admin() {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        return AdminClient.create(settings);
    }

    KafkaProducer<String, String> producer(String... settings) {
        return new KafkaProducer<>(properties(settings), new StringSerializer(), new StringSerializer());
    }

    /** A transactional producer; the id is unique to this run. */
    KafkaProducer<String, String> transactional(String id) {
        return producer("transactional.id", name(id), "acks", "all", "enable.idempotence", "true",
            "transaction.timeout.ms", "20000", "max.block.ms", "20000");
    }

    /** The offsets join the transaction; clients before 2.5 name only the group. */
    static void sendOffsets(KafkaProducer<String, String> producer, Map<TopicPartition, OffsetAndMetadata> offsets,
        KafkaConsumer<String, String> consumer, String group) {
        try {
            Method metadata;
            try {
                metadata = KafkaConsumer.class.getMethod("groupMetadata");
            } catch (NoSuchMethodException e) {
                KafkaProducer.class.getMethod("sendOffsetsToTransaction", Map.class, String.class)
                    .invoke(producer, offsets, group);
                return;
            }
            KafkaProducer.class.getMethod("sendOffsetsToTransaction", Map.class, metadata.getReturnType())
                .invoke(producer, offsets, metadata.invoke(consumer));
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof RuntimeException) {
                throw (RuntimeException) e.getCause();
            }
            throw new AssertionError(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** Reads from the beginning, in `group` if it is not null; commits only when told. */
    KafkaConsumer<String, String> consumer(String group, String... settings) {
        Properties all = properties("enable.auto.commit", "false", "auto.offset.reset", "earliest");
        if (group != null) {
            all.put("group.id", group);
        }
        all.putAll(properties(settings));
        return new KafkaConsumer<>(all, new StringDeserializer(), new StringDeserializer());
    }

    private Properties properties(String... pairs) {
        Properties all = new Properties();
        all.put("bootstrap.servers", bootstrap);
        for (int i = 0; i < pairs.length; i += 2) {
            all.put(pairs[i], pairs[i + 1]);
        }
        return all;
    }

    /** Sends `v0`, `v1` … round the partitions and returns when all are acknowledged. */
    void fill(String topic, int partitions, int count) throws Exception {
        try (KafkaProducer<String, String> producer = producer()) {
            List<java.util.concurrent.Future<RecordMetadata>> sent = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                sent.add(producer.send(new ProducerRecord<>(topic, i % partitions, "k" + i, "v" + i)));
            }
            for (java.util.concurrent.Future<RecordMetadata> one : sent) {
                one.get();
            }
        }
    }

    /** Every record of the topic, without a group; fails unless there come `count`. */
    List<ConsumerRecord<String, String>> all(String topic, int partitions, int count) {
        List<TopicPartition> assigned = new ArrayList<>();
        for (int i = 0; i < partitions; i++) {
            assigned.add(new TopicPartition(topic, i));
        }
        try (KafkaConsumer<String, String> consumer = consumer(null)) {
            consumer.assign(assigned);
            consumer.seekToBeginning(assigned);
            List<ConsumerRecord<String, String>> seen = take(consumer, count);
            long end = consumer.endOffsets(assigned).values().stream().mapToLong(Long::longValue).sum();
            Check.same((long) count, end, "records in " + topic);
            return seen;
        }
    }

    /** Polls until `count` records have come. */
    static List<ConsumerRecord<String, String>> take(KafkaConsumer<String, String> consumer, int count) {
        List<ConsumerRecord<String, String>> seen = new ArrayList<>();
        Check.soon(count + " records", () -> {
            consumer.poll(POLL).forEach(seen::add);
            return seen.size() >= count;
        });
        Check.same(count, seen.size(), "records");
        return seen;
    }

    /** What the group has committed. */
    Map<TopicPartition, OffsetAndMetadata> committed(String group) throws Exception {
        try (AdminClient admin = admin()) {
            return admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
        }
    }

    /** The committed offset of a partition, or -1. */
    long committed(String group, TopicPartition partition) throws Exception {
        OffsetAndMetadata found = committed(group).get(partition);
        return found == null ? -1 : found.offset();
    }
}
