//! Every replica that the controller calls in sync, and that runs, has everything that was acknowledged: it may be elected.

use super::acked_survives::Acked;
use super::controller::Controller;
use super::node::Node;

/// See the module.
pub fn check(seed: u64, controller: &Controller, nodes: &[Node], acked: &Acked) {
    for (index, isr) in controller.in_sync() {
        for node in nodes.iter().filter(|node| isr.contains(&node.id())) {
            let Some(partition) = node.partition(index) else { continue };
            let (end, needed) = (partition.log().end_offset(), acked.end(index));
            assert!(
                end >= needed,
                "seed {seed}: node {} is in sync for {index}, ends at {end}, and {needed} was acknowledged: {}",
                node.id(),
                controller.describe()
            );
        }
    }
}
