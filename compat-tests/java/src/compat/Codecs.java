package compat;

import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Every compression that this client knows, one after the other into one partition. */
final class Codecs implements Program {
    private static final String[] CODECS = {"none", "gzip", "snappy", "lz4", "zstd"};

    @Override
    public void run(Cluster cluster) throws Exception {
        String topic = cluster.topic("codecs", 1);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 100; i++) {
            text.append("the same words again ").append(i);
        }
        for (String codec : CODECS) {
            try (KafkaProducer<String, String> producer =
                    cluster.producer("compression.type", codec, "linger.ms", "20", "batch.size", "100000")) {
                for (int i = 0; i < 100; i++) {
                    producer.send(new ProducerRecord<>(topic, codec, text.toString() + i));
                }
            }
        }
        List<ConsumerRecord<String, String>> seen = cluster.all(topic, 1, 100 * CODECS.length);
        for (int i = 0; i < seen.size(); i++) {
            Check.same((long) i, seen.get(i).offset(), "offset");
            Check.same(CODECS[i / 100], seen.get(i).key(), "codec");
            Check.same(text.toString() + i % 100, seen.get(i).value(), "value");
        }
    }
}
