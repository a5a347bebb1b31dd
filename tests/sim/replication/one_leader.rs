//! In one epoch of a partition only one broker ever leads.

use std::collections::BTreeMap;

use super::node::Node;

/// Who led, by partition and leader epoch.
#[derive(Default)]
pub struct Leaders(BTreeMap<(i32, i32), i32>);

impl Leaders {
    /// See the module.
    pub fn look(&mut self, seed: u64, node: &Node, partitions: i32) {
        for index in 0..partitions {
            let Some(partition) = node.partition(index) else { continue };
            let Ok(epoch) = partition.leader_epoch() else { continue };
            let leader = *self.0.entry((index, epoch)).or_insert(node.id());
            assert_eq!(leader, node.id(), "seed {seed}: both lead {index} in epoch {epoch}");
        }
    }
}
