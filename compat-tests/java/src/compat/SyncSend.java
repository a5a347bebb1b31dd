package compat;

import java.util.List;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.RecordTooLargeException;

/** Waits for each record: to a topic that appears by itself, with every acks, with all that a record can carry. */
final class SyncSend implements Program {
    @Override
    public void run(Cluster cluster) throws Exception {
        String created = cluster.name("by-first-send");
        String topic = cluster.topic("sync", 2);
        for (String acks : new String[] {"all", "1"}) {
            try (KafkaProducer<String, String> producer = cluster.producer("acks", acks, "enable.idempotence", "false")) {
                RecordMetadata first = producer.send(new ProducerRecord<>(created + acks, "first")).get();
                Check.same(0L, first.offset(), "offset of the first record in a new topic");
            }
        }
        try (KafkaProducer<String, String> producer = cluster.producer("acks", "0", "enable.idempotence", "false")) {
            RecordMetadata unknown = producer.send(new ProducerRecord<>(created + "0", 0, "k", "unanswered")).get();
            Check.that(!unknown.hasOffset(), "acks=0 tells no offset");
        }
        cluster.all(created + "0", 1, 1);

        try (KafkaProducer<String, String> producer = cluster.producer("max.request.size", "5000000")) {
            for (int i = 0; i < 20; i++) {
                ProducerRecord<String, String> record = new ProducerRecord<>(topic, 1, 1_600_000_000_000L + i,
                    i % 3 == 0 ? null : "k" + i, i % 4 == 0 ? null : "v" + i);
                record.headers().add("n", new byte[] {(byte) i}).add("n", null);
                RecordMetadata metadata = producer.send(record).get();
                Check.same(1, metadata.partition(), "partition");
                Check.same((long) i, metadata.offset(), "offset");
                Check.same(1_600_000_000_000L + i, metadata.timestamp(), "timestamp");
            }
            try {
                producer.send(new ProducerRecord<>(topic, 0, "k", new String(new char[2_000_000]))).get();
                throw new AssertionError("a record above max.message.bytes is refused");
            } catch (ExecutionException e) {
                Check.same(RecordTooLargeException.class, e.getCause().getClass(), "error");
            }
            Check.same(0L, producer.send(new ProducerRecord<>(topic, 0, "k", "v")).get().offset(),
                "offset after the refused record");
        }

        List<ConsumerRecord<String, String>> seen = cluster.all(topic, 2, 21);
        seen.removeIf(record -> record.partition() == 0);
        for (int i = 0; i < 20; i++) {
            ConsumerRecord<String, String> record = seen.get(i);
            Check.same(i % 3 == 0 ? null : "k" + i, record.key(), "key");
            Check.same(i % 4 == 0 ? null : "v" + i, record.value(), "value");
            Check.same(2, record.headers().toArray().length, "headers");
            Check.same((byte) i, record.headers().toArray()[0].value()[0], "first header");
            Check.same(null, record.headers().toArray()[1].value(), "second header");
        }
    }
}
