//! A record that was acknowledged with acks=all is there, at its offset, on every replica in the end.

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

    /// The end of what was acknowledged in a partition.
    pub fn end(&self, index: i32) -> i64 {
        let last = self.0.range((index, 0)..(index + 1, 0)).next_back();
        last.map_or(0, |((_, offset), _)| offset + 1)
    }

    /// See the module.
    pub fn check(&self, seed: u64, nodes: &[Node]) {
        for node in nodes {
            for ((index, offset), value) in &self.0 {
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
