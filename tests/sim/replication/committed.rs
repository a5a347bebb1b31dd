//! What a leader calls committed stays so: its high watermark never falls, and a later leader that knows the end of the
//! log calls no less committed than its predecessors did.

use std::collections::BTreeMap;

use super::node::Node;

/// The highest high watermark that was seen, by partition and leader epoch.
#[derive(Default)]
pub struct Committed(BTreeMap<(i32, i32), i64>);

impl Committed {
    /// See the module.
    pub fn look(&mut self, seed: u64, node: &Node, partitions: i32) {
        for index in 0..partitions {
            let Some(partition) = node.partition(index) else { continue };
            let Ok(epoch) = partition.leader_epoch() else { continue };
            let high_watermark = partition.high_watermark();
            let before = match partition.check_end_known() {
                Ok(()) => self.0.range((index, 0)..=(index, epoch)).map(|(_, known)| *known).max(),
                Err(_) => self.0.get(&(index, epoch)).copied(),
            };
            assert!(
                before.is_none_or(|before| high_watermark >= before),
                "seed {seed}: node {} leads {index} in epoch {epoch} up to {high_watermark}, before it was {before:?}",
                node.id()
            );
            self.0.insert((index, epoch), high_watermark);
        }
    }

    /// Everything below has been called committed.
    pub fn end(&self, index: i32) -> i64 {
        self.0.range((index, 0)..(index + 1, 0)).map(|(_, known)| *known).max().unwrap_or(0)
    }
}
