import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * A Flink job copies records from topic to topic with EXACTLY_ONCE: checkpoints every second, and failures in the
 * middle of it. The broker may be killed meanwhile. A reader of what is committed finds each record once, in order.
 */
public final class CopyExactlyOnce {
    /** Of each topic. */
    private static final short REPLICAS = Short.parseShort(System.getenv().getOrDefault("COMPAT_REPLICAS", "1"));
    private static final int PARTITIONS = 2;
    private static final int FAILURES = 3;
    private static final AtomicInteger WORKED = new AtomicInteger();
    private static final AtomicInteger FAILED = new AtomicInteger();
    private static int every;

    /** Works slowly, and fails from time to time. */
    public static final class Slow implements MapFunction<String, String> {
        @Override
        public String map(String value) throws Exception {
            Thread.sleep(2);
            int worked = WORKED.incrementAndGet();
            if (worked / every > FAILED.get() && FAILED.get() < FAILURES) {
                FAILED.incrementAndGet();
                throw new IllegalStateException("a failure by intention");
            }
            return value;
        }
    }

    public static void main(String[] args) throws Exception {
        String bootstrap = args[0];
        int count = Integer.parseInt(args[1]);
        every = count / (FAILURES + 1);
        long start = System.currentTimeMillis();
        String run = Long.toString(System.nanoTime(), 36);
        String in = "in-" + run;
        String out = "out-" + run;
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        try (AdminClient admin = AdminClient.create(settings)) {
            admin.createTopics(List.of(new NewTopic(in, PARTITIONS, REPLICAS), new NewTopic(out, 1, REPLICAS))).all().get();
        }
        fill(settings, in, count);
        JobClient job = start(bootstrap, in, out, run);
        check(settings, out, count);
        job.cancel().get();
        System.out.printf("Flink, %d records copied exactly once with %d failures: ok (%d ms)%n", count, FAILED.get(),
            System.currentTimeMillis() - start);
        System.exit(0);
    }

    private static void fill(Properties settings, String topic, int count) throws Exception {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            List<Future<?>> sent = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                sent.add(producer.send(new ProducerRecord<>(topic, i % PARTITIONS, null, i % PARTITIONS + " " + i)));
            }
            for (Future<?> one : sent) {
                one.get();
            }
        }
    }

    private static JobClient start(String bootstrap, String in, String out, String run) throws Exception {
        Configuration configuration = new Configuration();
        configuration.setString("restart-strategy.type", "fixed-delay");
        configuration.setString("restart-strategy.fixed-delay.attempts", "1000");
        configuration.setString("restart-strategy.fixed-delay.delay", "500 ms");
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.createLocalEnvironment(PARTITIONS, configuration);
        environment.enableCheckpointing(1000);
        KafkaSource<String> source = KafkaSource.<String>builder()
            .setBootstrapServers(bootstrap)
            .setTopics(in)
            .setGroupId("flink-" + run)
            .setStartingOffsets(OffsetsInitializer.earliest())
            .setValueOnlyDeserializer(new SimpleStringSchema())
            .build();
        KafkaSink<String> sink = KafkaSink.<String>builder()
            .setBootstrapServers(bootstrap)
            .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
            .setTransactionalIdPrefix("flink-" + run)
            .setProperty("transaction.timeout.ms", "600000")
            .setRecordSerializer(KafkaRecordSerializationSchema.builder()
                .setTopic(out)
                .setValueSerializationSchema(new SimpleStringSchema())
                .build())
            .build();
        environment.fromSource(source, WatermarkStrategy.noWatermarks(), "source").map(new Slow()).sinkTo(sink);
        return environment.executeAsync("copy");
    }

    private static void check(Properties settings, String topic, int count) {
        Properties committed = new Properties();
        committed.putAll(settings);
        committed.put("isolation.level", "read_committed");
        Set<String> seen = new HashSet<>();
        Map<String, Integer> last = new HashMap<>();
        try (KafkaConsumer<String, String> reader = new KafkaConsumer<>(committed, new StringDeserializer(), new StringDeserializer())) {
            TopicPartition partition = new TopicPartition(topic, 0);
            reader.assign(Collections.singleton(partition));
            reader.seekToBeginning(Collections.singleton(partition));
            long end = System.nanoTime() + 150_000_000_000L;
            int quiet = 0;
            while (seen.size() < count || quiet < 30) {
                if (System.nanoTime() > end) {
                    throw new AssertionError("only " + seen.size() + " of " + count + " records came");
                }
                int before = seen.size();
                for (ConsumerRecord<String, String> record : reader.poll(Duration.ofMillis(100))) {
                    String value = record.value();
                    if (!seen.add(value)) {
                        throw new AssertionError("twice: " + value + " at " + record.offset());
                    }
                    String source = value.substring(0, value.indexOf(' '));
                    int number = Integer.parseInt(value.substring(value.indexOf(' ') + 1));
                    Integer former = last.put(source, number);
                    if (former != null && former > number) {
                        throw new AssertionError("out of order: " + number + " after " + former);
                    }
                }
                quiet = seen.size() == before ? quiet + 1 : 0;
            }
        }
    }
}
