//! Every replica that the controller calls in sync, and that runs, has everything that is committed: it may be elected.

use super::committed::Committed;
use super::controller::Controller;
use super::node::Node;

/// See the module.
pub fn check(seed: u64, controller: &Controller, nodes: &[Node], committed: &Committed) {
    for (index, isr) in controller.in_sync() {
        for node in nodes.iter().filter(|node| isr.contains(&node.id())) {
            let Some(partition) = node.partition(index) else { continue };
            let (end, needed) = (partition.log().end_offset(), committed.end(index));
            assert!(
                end >= needed,
                "seed {seed}: node {} is in sync for {index}, ends at {end}, and {needed} is committed: {}",
                node.id(),
                controller.describe()
            );
        }
    }
}
