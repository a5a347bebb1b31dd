//! Which operations a client is told it may do, as bits (KIP-430).

use super::{Ctx, Operation, Resource};

const CLUSTER: [(Operation, u32); 7] = [
    (Operation::Create, 5),
    (Operation::Alter, 7),
    (Operation::Describe, 8),
    (Operation::ClusterAction, 9),
    (Operation::DescribeConfigs, 10),
    (Operation::AlterConfigs, 11),
    (Operation::IdempotentWrite, 12),
];

const TOPIC: [(Operation, u32); 8] = [
    (Operation::Read, 3),
    (Operation::Write, 4),
    (Operation::Create, 5),
    (Operation::Delete, 6),
    (Operation::Alter, 7),
    (Operation::Describe, 8),
    (Operation::DescribeConfigs, 10),
    (Operation::AlterConfigs, 11),
];

impl Ctx<'_> {
    /// What the principal may do with the cluster.
    pub fn cluster_operations(&self) -> i32 {
        self.bits(&CLUSTER, Resource::Cluster)
    }

    /// What the principal may do with a topic.
    pub fn topic_operations(&self, topic: &str) -> i32 {
        self.bits(&TOPIC, Resource::Topic(topic))
    }

    fn bits(&self, operations: &[(Operation, u32)], resource: Resource<'_>) -> i32 {
        let allowed = operations.iter().filter(|(operation, _)| self.authorize(*operation, resource));
        allowed.fold(0, |bits, (_, bit)| bits | (1 << bit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_what_kafka_answers_without_an_authorizer() {
        let all =
            |operations: &[(Operation, u32)]| operations.iter().fold(0, |bits, (_, bit)| bits | (1 << bit));
        assert_eq!((all(&CLUSTER), all(&TOPIC)), (8096, 3576));
    }
}
