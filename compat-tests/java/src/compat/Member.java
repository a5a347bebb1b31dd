package compat;

import java.io.IOException;
import java.util.Collection;
import java.util.Collections;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * A member of a consumer group, a process of its own so that it can be stopped and killed: BOOTSTRAP KEY=VALUE...
 * Says `given` when partitions are handed to it, `share N` when it has another number of them, `seen PARTITION OFFSET`
 * for each record, and commits behind them. Leaves in order when its input ends.
 */
public final class Member {
    private static final class Told implements ConsumerRebalanceListener {
        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> given) {
            System.out.println("given");
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> taken) {}
    }

    public static void main(String[] args) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", args[0]);
        settings.put("enable.auto.commit", "false");
        settings.put("auto.offset.reset", "earliest");
        for (int i = 1; i < args.length; i++) {
            String[] setting = args[i].split("=", 2);
            settings.put(setting[0], setting[1]);
        }
        AtomicBoolean leaving = new AtomicBoolean();
        Thread watch = new Thread(() -> {
            try {
                while (System.in.read() >= 0) {
                    // Nothing is said to a member.
                }
            } catch (IOException e) {
                System.err.println(e);
            }
            leaving.set(true);
        });
        watch.setDaemon(true);
        watch.start();
        try (KafkaConsumer<String, String> consumer =
            new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(Collections.singleton("shared"), new Told());
            int share = 0;
            boolean uncommitted = false;
            while (!leaving.get()) {
                ConsumerRecords<String, String> records = consumer.poll(Cluster.POLL);
                for (ConsumerRecord<String, String> record : records) {
                    System.out.println("seen " + record.partition() + " " + record.offset());
                }
                // Refused while a rebalance goes on: who keeps its partitions through it has to say it again.
                uncommitted = (uncommitted || !records.isEmpty()) && !commit(consumer);
                if (consumer.assignment().size() != share) {
                    share = consumer.assignment().size();
                    System.out.println("share " + share);
                }
            }
        }
    }

    private static boolean commit(KafkaConsumer<String, String> consumer) {
        try {
            consumer.commitSync();
            return true;
        } catch (KafkaException e) {
            System.err.println(e);
            return false;
        }
    }
}
