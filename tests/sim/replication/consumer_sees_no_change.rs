//! What a consumer has read at an offset is what any consumer reads there, whichever broker leads.

use std::collections::BTreeMap;

use barnabas::partition::{Isolation, Read};

use super::node::{Node, records_of};

/// Reads everything that any broker that believes to lead calls committed.
#[derive(Default)]
pub struct Consumer {
    seen: BTreeMap<(i32, i64), String>,
    /// How far each broker was read, by leader epoch.
    read: BTreeMap<(i32, i32, i32), i64>,
}

impl Consumer {
    /// Reads on.
    pub fn read(&mut self, seed: u64, node: &Node, partitions: i32) {
        for index in 0..partitions {
            let Some(partition) = node.partition(index) else { continue };
            let Ok(epoch) = partition.leader_epoch() else { continue };
            let position = self.read.entry((node.id(), index, epoch)).or_insert(0);
            *position = (*position).max(partition.log().start_offset());
            loop {
                let read = Read {
                    offset: *position,
                    max_bytes: 1 << 20,
                    min_one: true,
                    isolation: Isolation::HighWatermark,
                    current_leader_epoch: epoch,
                    last_fetched_epoch: -1,
                };
                let fetched = partition.read(&read).expect("a leader is read from its start");
                let records = records_of(&fetched.records.load().expect("its files are there"));
                if records.is_empty() {
                    break;
                }
                for (offset, value) in records {
                    *position = offset + 1;
                    let first = self.seen.entry((index, offset)).or_insert_with(|| value.clone());
                    assert_eq!(*first, value, "seed {seed}: node {}, {index} at {offset}", node.id());
                }
            }
        }
    }
}
