//! Below the high watermark all logs are the same, batch by batch, epochs included.

use super::node::Node;

/// See the module.
pub fn check(seed: u64, nodes: &[Node], partitions: i32) {
    for index in 0..partitions {
        let running: Vec<_> = nodes.iter().filter_map(|node| Some((node, node.partition(index)?))).collect();
        let common = running.iter().map(|(_, partition)| partition.high_watermark()).min().unwrap_or(0);
        // Retention is each one's own.
        let start = running.iter().map(|(_, partition)| partition.log().start_offset()).max().unwrap_or(0);
        let logs: Vec<_> = running.iter().map(|(node, _)| node.batches(index, start, common)).collect();
        for (log, (node, _)) in logs.iter().zip(&running) {
            assert_eq!(log, &logs[0], "seed {seed}: node {} of partition {index}, below {common}", node.id());
        }
    }
}
