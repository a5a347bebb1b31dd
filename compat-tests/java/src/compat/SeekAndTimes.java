package compat;

import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/** Finds offsets by time, also in a batch and with times out of order, and reads from there. */
final class SeekAndTimes implements Program {
    private static final long BASE = 1_700_000_000_000L;

    @Override
    public void run(Cluster cluster) throws Exception {
        String topic = cluster.topic("times", 2);
        TopicPartition filled = new TopicPartition(topic, 0);
        TopicPartition empty = new TopicPartition(topic, 1);
        long[] times = {0, 10, 20, 50, 30, 40, 60};
        try (KafkaProducer<String, String> producer = cluster.producer("linger.ms", "50", "compression.type", "gzip")) {
            for (long time : times) {
                producer.send(new ProducerRecord<>(topic, 0, BASE + time, "k", "at" + time));
            }
        }
        try (KafkaConsumer<String, String> consumer = cluster.consumer(null)) {
            consumer.assign(Arrays.asList(filled, empty));
            Check.same(1L, at(consumer, filled, BASE + 5), "first record at or after 5");
            Check.same(2L, at(consumer, filled, BASE + 20), "first record at or after 20");
            Check.same(3L, at(consumer, filled, BASE + 25), "first record at or after 25");
            Check.same(6L, at(consumer, filled, BASE + 55), "first record at or after 55");
            Check.same(null, at(consumer, filled, BASE + 61), "nothing after the last time");
            Check.same(null, at(consumer, empty, BASE), "nothing in an empty partition");
            Map<TopicPartition, Long> ends = new HashMap<>();
            ends.put(filled, 7L);
            ends.put(empty, 0L);
            Check.same(ends, consumer.endOffsets(Arrays.asList(filled, empty)), "ends");

            consumer.seek(filled, 5);
            Check.same("at40", Cluster.take(consumer, 2).get(0).value(), "record after the seek");
            consumer.seekToBeginning(Collections.singleton(filled));
            Check.same("at0", Cluster.take(consumer, 7).get(0).value(), "record at the beginning");
            consumer.seekToEnd(Collections.singleton(filled));
            Check.same(7L, consumer.position(filled), "position at the end");
        }
    }

    private static Long at(KafkaConsumer<String, String> consumer, TopicPartition partition, long time) {
        OffsetAndTimestamp found = consumer.offsetsForTimes(Collections.singletonMap(partition, time)).get(partition);
        return found == null ? null : found.offset();
    }
}
