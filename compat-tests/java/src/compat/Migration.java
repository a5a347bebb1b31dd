package compat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.consumer.KafkaConsumer;

/** The members of a working group are replaced one by one by members of the other protocol, and back again (KIP-848). */
final class Migration implements Program {
    private final String assignor;
    private final Map<String, Integer> read = new HashMap<>();
    private int sent;

    Migration(String assignor) {
        this.assignor = assignor;
    }

    @Override
    public void run(Cluster cluster) throws Exception {
        String name = assignor.substring(assignor.lastIndexOf('.') + 1) + "-migration";
        String first = cluster.topic(name + "-a", 3);
        List<String> topics = Arrays.asList(first, cluster.topic(name + "-b", 3));
        String group = cluster.name(name);
        List<KafkaConsumer<String, String>> members = new ArrayList<>();
        try {
            members.add(classic(cluster, group, topics));
            members.add(classic(cluster, group, topics));
            Assignment.settle(members, "[3, 3]");
            work(cluster, members, first);

            members.add(consumer(cluster, group, topics));
            Assignment.settle(members, "[2, 2, 2]");
            Check.same("Consumer", type(cluster, group), "the group with its first consumer");
            work(cluster, members, first);
            for (int i = 0; i < 2; i++) {
                members.remove(0).close();
                members.add(consumer(cluster, group, topics));
                Assignment.settle(members, "[2, 2, 2]");
                work(cluster, members, first);
            }

            for (int i = 0; i < 3; i++) {
                Check.same("Consumer", type(cluster, group), "the group with " + (3 - i) + " consumers");
                members.add(classic(cluster, group, topics));
                Assignment.settle(members, "[1, 1, 2, 2]");
                members.remove(0).close();
                Assignment.settle(members, "[2, 2, 2]");
                work(cluster, members, first);
            }
            Check.same("Classic", type(cluster, group), "the group without consumers");
        } finally {
            members.forEach(KafkaConsumer::close);
        }
    }

    /** Thirty records come, each to one member and once. */
    private void work(Cluster cluster, List<KafkaConsumer<String, String>> members, String topic) throws Exception {
        cluster.fill(topic, 3, 30);
        sent += 30;
        int[] count = {read.values().stream().mapToInt(Integer::intValue).sum()};
        Check.soon(sent + " records", () -> {
            members.forEach(member -> member.poll(Cluster.POLL).forEach(record -> {
                read.merge(record.partition() + "/" + record.offset(), 1, Integer::sum);
                count[0]++;
            }));
            return count[0] >= sent;
        });
        members.forEach(KafkaConsumer::commitSync);
        Check.same(sent, count[0], "records read");
        Check.same(sent, read.size(), "different records read");
    }

    private KafkaConsumer<String, String> classic(Cluster cluster, String group, List<String> topics) {
        return join(cluster, group, topics, "partition.assignment.strategy", assignor, "heartbeat.interval.ms", "100",
            "session.timeout.ms", "10000");
    }

    private KafkaConsumer<String, String> consumer(Cluster cluster, String group, List<String> topics) {
        return join(cluster, group, topics, "group.protocol", "consumer");
    }

    private KafkaConsumer<String, String> join(Cluster cluster, String group, List<String> topics, String... settings) {
        KafkaConsumer<String, String> member = cluster.consumer(group, settings);
        member.subscribe(topics);
        return member;
    }

    /** Only clients since 4.0 know that there are types. */
    private String type(Cluster cluster, String group) throws Exception {
        try (AdminClient admin = cluster.admin()) {
            Object described =
                admin.describeConsumerGroups(Collections.singleton(group)).describedGroups().get(group).get();
            return described.getClass().getMethod("type").invoke(described).toString();
        }
    }
}
