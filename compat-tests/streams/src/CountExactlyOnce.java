import java.io.File;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;

/**
 * Counts words with exactly_once_v2: state store, repartition and changelog topics. The application is closed midway
 * and begins again elsewhere, without its state; the broker may be killed meanwhile. Each word must be counted
 * 1, 2, 3 … to the end, nothing left out and nothing twice.
 */
public final class CountExactlyOnce {
    /** Of each topic. */
    private static final short REPLICAS = Short.parseShort(System.getenv().getOrDefault("COMPAT_REPLICAS", "1"));
    private static final int PARTITIONS = 3;
    private static final int WORDS = 20;

    private final String bootstrap;
    private final String run = Long.toString(System.nanoTime(), 36);
    private final String in = "words-" + run;
    private final String out = "counts-" + run;

    private CountExactlyOnce(String bootstrap) {
        this.bootstrap = bootstrap;
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[1]);
        long start = System.currentTimeMillis();
        new CountExactlyOnce(args[0]).run(count);
        System.out.printf("Kafka Streams, %d records counted exactly once: ok (%d ms)%n", count, System.currentTimeMillis() - start);
        System.exit(0);
    }

    private void run(int count) throws Exception {
        try (AdminClient admin = AdminClient.create(settings())) {
            List<NewTopic> topics = List.of(new NewTopic(in, PARTITIONS, REPLICAS), new NewTopic(out, PARTITIONS, REPLICAS));
            admin.createTopics(topics).all().get();
        }
        fill(count);
        Map<String, Long> seen = new HashMap<>();
        try (KafkaConsumer<String, Long> reader = reader()) {
            KafkaStreams first = streams();
            first.start();
            read(reader, seen, count / 2);
            first.close(Duration.ofSeconds(20));
            KafkaStreams second = streams();
            second.start();
            read(reader, seen, count);
            // Nothing more may come.
            for (int i = 0; i < 20; i++) {
                if (!reader.poll(Duration.ofMillis(100)).isEmpty()) {
                    throw new AssertionError("more counts than words");
                }
            }
            second.close(Duration.ofSeconds(20));
        }
    }

    private Properties settings() {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        return settings;
    }

    private void fill(int count) throws Exception {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings(), new StringSerializer(), new StringSerializer())) {
            List<Future<?>> sent = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                sent.add(producer.send(new ProducerRecord<>(in, i % PARTITIONS, "k" + i, "word" + i % WORDS)));
            }
            for (Future<?> one : sent) {
                one.get();
            }
        }
    }

    private KafkaStreams streams() throws Exception {
        File state = Files.createTempDirectory("streams-").toFile();
        Properties settings = settings();
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, "count-" + run);
        settings.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        settings.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 200);
        settings.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, 2);
        settings.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, 1);
        settings.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
        settings.put(StreamsConfig.STATE_DIR_CONFIG, state.getPath());
        settings.put("max.poll.records", 20);
        settings.put("session.timeout.ms", 8000);
        settings.put("transaction.timeout.ms", 20000);
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(in, Consumed.with(Serdes.String(), Serdes.String()))
            .selectKey((key, value) -> value)
            .groupByKey(Grouped.with(Serdes.String(), Serdes.String()))
            .count(Materialized.as("counts"))
            .toStream()
            .to(out, Produced.with(Serdes.String(), Serdes.Long()));
        KafkaStreams streams = new KafkaStreams(builder.build(), settings);
        streams.setUncaughtExceptionHandler(error -> StreamThreadExceptionResponse.REPLACE_THREAD);
        return streams;
    }

    private KafkaConsumer<String, Long> reader() {
        Properties settings = settings();
        settings.put("isolation.level", "read_committed");
        KafkaConsumer<String, Long> reader = new KafkaConsumer<>(settings, new StringDeserializer(), new LongDeserializer());
        List<TopicPartition> all = new ArrayList<>();
        for (int i = 0; i < PARTITIONS; i++) {
            all.add(new TopicPartition(out, i));
        }
        reader.assign(all);
        reader.seekToBeginning(all);
        return reader;
    }

    /** Until so many counts have come; each word's must rise by one. */
    private static void read(KafkaConsumer<String, Long> reader, Map<String, Long> seen, long wanted) {
        long end = System.nanoTime() + 150_000_000_000L;
        long total = seen.values().stream().mapToLong(Long::longValue).sum();
        while (total < wanted) {
            if (System.nanoTime() > end) {
                throw new AssertionError("only " + total + " of " + wanted + " counts came");
            }
            for (ConsumerRecord<String, Long> record : reader.poll(Duration.ofMillis(100))) {
                long before = seen.getOrDefault(record.key(), 0L);
                if (record.value() != before + 1) {
                    throw new AssertionError(record.key() + ": " + record.value() + " after " + before);
                }
                seen.put(record.key(), record.value());
                total++;
            }
        }
    }
}
