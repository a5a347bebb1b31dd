package compat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;

/** Three members come and go; each assignor shares two topics of three partitions in its own way. */
final class Assignment implements Program {
    private final String assignor;

    Assignment(String assignor) {
        this.assignor = assignor;
    }

    static boolean exists(String assignor) {
        try {
            Class.forName(assignor);
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    @Override
    public void run(Cluster cluster) throws Exception {
        String name = assignor.substring(assignor.lastIndexOf('.') + 1);
        List<String> topics = Arrays.asList(cluster.topic(name + "-a", 3), cluster.topic(name + "-b", 3));
        String group = cluster.name(name);
        boolean range = name.equals("RangeAssignor");
        boolean sticky = name.contains("Sticky");
        List<KafkaConsumer<String, String>> members = new ArrayList<>();
        try {
            join(cluster, members, group, topics);
            settle(members, "[6]");

            join(cluster, members, group, topics);
            Set<TopicPartition> alone = allOf(members);
            settle(members, range ? "[2, 4]" : "[3, 3]");
            Check.same(alone, allOf(members), "every partition has its member");
            if (range) {
                for (KafkaConsumer<String, String> member : members) {
                    Check.that(sameNumbers(member, topics), "range gives the same numbers of both topics");
                }
            }

            List<Set<TopicPartition>> before = assignments(members);
            join(cluster, members, group, topics);
            settle(members, "[2, 2, 2]");
            if (sticky) {
                for (int i = 0; i < 2; i++) {
                    Check.that(before.get(i).containsAll(members.get(i).assignment()), "a member keeps what it had");
                }
            }

            members.remove(0).close();
            settle(members, range ? "[2, 4]" : "[3, 3]");
            Check.same(alone, allOf(members), "a member that leaves hands over its partitions");
        } finally {
            members.forEach(KafkaConsumer::close);
        }
    }

    private void join(Cluster cluster, List<KafkaConsumer<String, String>> members, String group, List<String> topics) {
        KafkaConsumer<String, String> member = cluster.consumer(group, "partition.assignment.strategy", assignor,
            "heartbeat.interval.ms", "100", "session.timeout.ms", "10000");
        member.subscribe(topics);
        members.add(member);
    }

    /** Polls all members by turns until the sizes of their assignments, sorted, are as expected and disjoint. */
    static void settle(List<KafkaConsumer<String, String>> members, String sizes) {
        Check.soon("assignments of " + sizes, () -> {
            members.forEach(member -> member.poll(Cluster.POLL));
            List<Integer> found = new ArrayList<>();
            members.forEach(member -> found.add(member.assignment().size()));
            found.sort(null);
            return found.toString().equals(sizes) && allOf(members).size() == 6;
        });
    }

    static Set<TopicPartition> allOf(List<KafkaConsumer<String, String>> members) {
        Set<TopicPartition> all = new HashSet<>();
        members.forEach(member -> all.addAll(member.assignment()));
        return all;
    }

    static List<Set<TopicPartition>> assignments(List<KafkaConsumer<String, String>> members) {
        List<Set<TopicPartition>> all = new ArrayList<>();
        members.forEach(member -> all.add(new HashSet<>(member.assignment())));
        return all;
    }

    private static boolean sameNumbers(KafkaConsumer<String, String> member, List<String> topics) {
        List<Set<Integer>> numbers = new ArrayList<>();
        for (String topic : topics) {
            Set<Integer> ofTopic = new TreeSet<>();
            member.assignment().forEach(partition -> {
                if (partition.topic().equals(topic)) {
                    ofTopic.add(partition.partition());
                }
            });
            numbers.add(ofTopic);
        }
        return numbers.get(0).equals(numbers.get(1));
    }
}
