package compat;

import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.clients.producer.ProducerRecord;

/** The application's own class decides where a record goes, by what the broker says about the topic. */
final class CustomPartitioner implements Program {
    /** Puts `audit` keys into the last partition and spreads the others over the rest by their length. */
    public static final class AuditLast implements Partitioner {
        @Override
        public int partition(String topic, Object key, byte[] keyBytes, Object value, byte[] valueBytes,
                org.apache.kafka.common.Cluster metadata) {
            int partitions = metadata.partitionCountForTopic(topic);
            return "audit".equals(key) ? partitions - 1 : ((String) value).length() % (partitions - 1);
        }

        @Override
        public void configure(Map<String, ?> settings) {}

        @Override
        public void close() {}
    }

    @Override
    public void run(Cluster cluster) throws Exception {
        String topic = cluster.topic("partitioner", 4);
        StringBuilder value = new StringBuilder();
        try (KafkaProducer<String, String> producer = cluster.producer("partitioner.class", AuditLast.class.getName())) {
            for (int i = 0; i < 60; i++) {
                value.append('x');
                String key = i % 5 == 0 ? "audit" : null;
                int expected = key == null ? value.length() % 3 : 3;
                int partition = producer.send(new ProducerRecord<>(topic, key, value.toString())).get().partition();
                Check.same(expected, partition, "partition of record " + i);
            }
        }
        for (ConsumerRecord<String, String> record : cluster.all(topic, 4, 60)) {
            Check.same(record.partition() == 3, record.key() != null, "only audit records in the last partition");
        }
    }
}
