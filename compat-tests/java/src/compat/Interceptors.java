package compat;

import java.util.Collections;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerInterceptor;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;

/** Two producer interceptors in their order, and one on the consumer's side that sees commits. */
final class Interceptors implements Program {
    /** Puts a mark before every value. */
    public static final class Marks implements ProducerInterceptor<String, String> {
        @Override
        public ProducerRecord<String, String> onSend(ProducerRecord<String, String> record) {
            return new ProducerRecord<>(record.topic(), record.partition(), record.timestamp(), record.key(),
                "mark:" + record.value(), record.headers());
        }

        @Override
        public void onAcknowledgement(RecordMetadata metadata, Exception error) {}

        @Override
        public void close() {}

        @Override
        public void configure(Map<String, ?> settings) {}
    }

    /** Counts what the broker acknowledged and refused. */
    public static final class Counts implements ProducerInterceptor<String, String> {
        static final AtomicInteger MARKED = new AtomicInteger();
        static final AtomicInteger GOOD = new AtomicInteger();
        static final AtomicInteger BAD = new AtomicInteger();

        @Override
        public ProducerRecord<String, String> onSend(ProducerRecord<String, String> record) {
            if (record.value().startsWith("mark:")) {
                MARKED.incrementAndGet();
            }
            return record;
        }

        @Override
        public void onAcknowledgement(RecordMetadata metadata, Exception error) {
            (error == null ? GOOD : BAD).incrementAndGet();
        }

        @Override
        public void close() {}

        @Override
        public void configure(Map<String, ?> settings) {}
    }

    /** Sees every record before the application, and every commit after the broker. */
    public static final class Sees implements ConsumerInterceptor<String, String> {
        static final AtomicInteger RECORDS = new AtomicInteger();
        static final AtomicInteger COMMITTED = new AtomicInteger();

        @Override
        public ConsumerRecords<String, String> onConsume(ConsumerRecords<String, String> records) {
            RECORDS.addAndGet(records.count());
            return records;
        }

        @Override
        public void onCommit(Map<TopicPartition, OffsetAndMetadata> offsets) {
            offsets.values().forEach(offset -> COMMITTED.set((int) offset.offset()));
        }

        @Override
        public void close() {}

        @Override
        public void configure(Map<String, ?> settings) {}
    }

    @Override
    public void run(Cluster cluster) throws Exception {
        String topic = cluster.topic("interceptors", 1);
        String both = Marks.class.getName() + "," + Counts.class.getName();
        try (KafkaProducer<String, String> producer = cluster.producer("interceptor.classes", both)) {
            for (int i = 0; i < 50; i++) {
                producer.send(new ProducerRecord<>(topic, "v" + i));
            }
            producer.send(new ProducerRecord<>(topic, new String(new char[1_100_000])));
        }
        Check.same(51, Counts.MARKED.get(), "records that the second interceptor saw marked");
        Check.same(50, Counts.GOOD.get(), "acknowledged");
        Check.same(1, Counts.BAD.get(), "refused");
        try (KafkaConsumer<String, String> consumer =
                cluster.consumer(cluster.name("interceptors"), "interceptor.classes", Sees.class.getName())) {
            consumer.subscribe(Collections.singleton(topic));
            for (ConsumerRecord<String, String> record : Cluster.take(consumer, 50)) {
                Check.same("mark:v" + record.offset(), record.value(), "value");
            }
            consumer.commitSync();
        }
        Check.same(50, Sees.RECORDS.get(), "records that the consumer's interceptor saw");
        Check.same(50, Sees.COMMITTED.get(), "offset that the consumer's interceptor saw committed");
    }
}
