//! A record that was acknowledged with acks=all is there, at its offset, on every replica in the end, unless retention
//! has deleted it.

use std::collections::BTreeMap;

use super::node::Node;

/// What was acknowledged.
#[derive(Default)]
pub struct Acked(BTreeMap<(i32, i64), String>);

impl Acked {
    /// A broker has said that it is safe.
    pub fn note(&mut self, index: i32, offset: i64, value: &str) {
        self.0.insert((index, offset), value.to_owned());
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// See the module.
    pub fn check(&self, seed: u64, nodes: &[Node]) {
        for node in nodes {
            let start = |index| node.partition(index).map_or(0, |partition| partition.log().start_offset());
            for ((index, offset), value) in
                self.0.iter().filter(|((index, offset), _)| *offset >= start(*index))
            {
                let there = node.value(*index, *offset);
                assert_eq!(
                    there.as_ref(),
                    Some(value),
                    "seed {seed}: node {}, {index} at {offset}",
                    node.id()
                );
            }
        }
    }
}
