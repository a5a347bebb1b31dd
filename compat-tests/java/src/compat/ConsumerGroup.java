package compat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;

/** Members of a group whose broker assigns (KIP-848) come, go, restart and commit. */
final class ConsumerGroup implements Program {
    private final String assignor;

    ConsumerGroup(String assignor) {
        this.assignor = assignor;
    }

    @Override
    public void run(Cluster cluster) throws Exception {
        String first = cluster.topic(assignor + "-a", 3);
        List<String> topics = Arrays.asList(first, cluster.topic(assignor + "-b", 3));
        String group = cluster.name(assignor);
        boolean range = assignor.equals("range");
        List<KafkaConsumer<String, String>> members = new ArrayList<>();
        try {
            members.add(join(cluster, group, topics, "fixed"));
            Assignment.settle(members, "[6]");
            members.add(join(cluster, group, topics, null));
            Assignment.settle(members, range ? "[2, 4]" : "[3, 3]");
            List<Set<TopicPartition>> before = Assignment.assignments(members);

            // A static member restarts: nobody's share changes.
            members.remove(0).close();
            members.add(0, join(cluster, group, topics, "fixed"));
            Assignment.settle(members, range ? "[2, 4]" : "[3, 3]");
            Check.same(before, Assignment.assignments(members), "shares after a static member's restart");

            members.add(join(cluster, group, topics, null));
            Assignment.settle(members, "[2, 2, 2]");
            cluster.fill(first, 3, 30);
            int[] read = new int[1];
            Check.soon("30 records", () -> {
                members.forEach(member -> read[0] += member.poll(Cluster.POLL).count());
                return read[0] >= 30;
            });
            members.forEach(KafkaConsumer::commitSync);
            Check.same(30, read[0], "records read");

            members.remove(2).close();
            Assignment.settle(members, range ? "[2, 4]" : "[3, 3]");
            members.remove(1).close();
            Assignment.settle(members, "[6]");
            members.forEach(member -> read[0] += member.poll(Cluster.POLL).count());
            Check.same(30, read[0], "nothing is read twice");
        } finally {
            members.forEach(KafkaConsumer::close);
        }
    }

    private KafkaConsumer<String, String> join(Cluster cluster, String group, List<String> topics, String instance) {
        List<String> settings = new ArrayList<>(
            Arrays.asList("group.protocol", "consumer", "group.remote.assignor", assignor));
        if (instance != null) {
            settings.addAll(Arrays.asList("group.instance.id", instance));
        }
        KafkaConsumer<String, String> member = cluster.consumer(group, settings.toArray(new String[0]));
        member.subscribe(topics);
        return member;
    }
}
