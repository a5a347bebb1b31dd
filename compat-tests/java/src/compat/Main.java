package compat;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Runs the programs one after the other against the broker given as the second argument; the first is the client's version. */
public final class Main {
    private static Map<String, Program> programs() {
        Map<String, Program> all = new LinkedHashMap<>();
        all.put("AsyncSend", new AsyncSend());
        all.put("SyncSend", new SyncSend());
        all.put("Codecs", new Codecs());
        all.put("CustomPartitioner", new CustomPartitioner());
        all.put("Interceptors", new Interceptors());
        all.put("AutoCommit", new AutoCommit());
        all.put("SyncCommit", new SyncCommit());
        all.put("AsyncCommit", new AsyncCommit());
        all.put("OutsideOffsets", new OutsideOffsets());
        all.put("SeekAndTimes", new SeekAndTimes());
        all.put("Transactions", new Transactions());
        all.put("ExactlyOnce", new ExactlyOnce());
        all.put("RandomTransactions", new RandomTransactions());
        String consumer = "org.apache.kafka.clients.consumer.";
        all.put("RangeAssignment", new Assignment(consumer + "RangeAssignor"));
        all.put("RoundRobinAssignment", new Assignment(consumer + "RoundRobinAssignor"));
        all.put("StickyAssignment", new Assignment(consumer + "StickyAssignor"));
        if (Assignment.exists(consumer + "CooperativeStickyAssignor")) {
            all.put("CooperativeStickyAssignment", new Assignment(consumer + "CooperativeStickyAssignor"));
        }
        if (Assignment.exists(consumer + "SubscriptionPattern")) {
            all.put("UniformConsumerGroup", new ConsumerGroup("uniform"));
            all.put("RangeConsumerGroup", new ConsumerGroup("range"));
            all.put("EagerMigration", new Migration(consumer + "RoundRobinAssignor"));
            all.put("CooperativeMigration", new Migration(consumer + "CooperativeStickyAssignor"));
        }
        return all;
    }

    public static void main(String[] args) {
        List<String> chosen = Arrays.asList(args).subList(2, args.length);
        Cluster cluster = new Cluster(args[1]);
        int failed = 0;
        for (Map.Entry<String, Program> program : programs().entrySet()) {
            if (!chosen.isEmpty() && !chosen.contains(program.getKey())) {
                continue;
            }
            long start = System.currentTimeMillis();
            String outcome = "ok";
            try {
                program.getValue().run(cluster);
            } catch (Throwable e) {
                failed++;
                outcome = "FAILED " + e;
                e.printStackTrace();
            }
            long took = System.currentTimeMillis() - start;
            System.out.printf("kafka-clients %s, %s: %s (%d ms)%n", args[0], program.getKey(), outcome, took);
        }
        System.exit(failed == 0 ? 0 : 1);
    }
}
