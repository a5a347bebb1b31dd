//! What a broker tells about the filled topics.

use barnabas_protocol::batch::{BatchView, Batches, Caps, ControlType, Scratch};
use barnabas_protocol::messages::fetch::{FetchPartition, FetchTopic};
use barnabas_protocol::messages::list_offsets::{ListOffsetsPartition, ListOffsetsTopic};
use barnabas_protocol::messages::metadata::MetadataRequestTopic;
use barnabas_protocol::messages::offset_fetch::OffsetFetchRequestTopic;
use barnabas_protocol::messages::offset_for_leader_epoch::{OffsetForLeaderPartition, OffsetForLeaderTopic};
use barnabas_protocol::messages::{
    DescribeTransactionsRequest, FetchRequest, ListGroupsRequest, ListOffsetsRequest,
    ListTransactionsRequest, MetadataRequest, OffsetFetchRequest, OffsetForLeaderEpochRequest,
};
use compat_tests::Wire;

use crate::fill::{CODECS, COMPACTED, GROUPS, TOPICS, TRANSACTIONAL_IDS, ready, settled};

/// Everything that must not depend on whose broker answers.
#[derive(Debug)]
pub struct Snapshot {
    /// Whatever can be told in a line.
    lines: Vec<String>,
    /// Of each topic, every batch as it is stored.
    batches: Vec<Vec<Vec<u8>>>,
}

impl Snapshot {
    pub fn take(wire: &mut Wire) -> Snapshot {
        let mut lines = vec![topic_ids(wire)];
        let mut batches = Vec::new();
        for topic in TOPICS {
            // Earliest, latest, the largest timestamp; then times within and beyond.
            for timestamp in
                [-2, -1, -3, 0, 1_767_225_600_000, 1_767_225_650_003, 1_767_225_700_019, i64::MAX]
            {
                lines.push(offset_of(wire, topic, timestamp));
            }
            lines.push(epoch_end(wire, topic, 0));
            let (found, aborted) = batches_of(wire, topic);
            lines.push(format!("{topic}: aborted {aborted:?}"));
            batches.push(found);
        }
        for group in GROUPS {
            lines.push(committed(wire, group));
        }
        for id in TRANSACTIONAL_IDS {
            lines.push(transaction(wire, id));
        }
        // They are loaded by now.
        lines.push(groups(wire));
        lines.push(transactions(wire));
        Snapshot { lines, batches }
    }

    /// Another broker tells the same.
    pub fn compare(&self, wire: &mut Wire, whose: &str) {
        let theirs = Snapshot::take(wire);
        for (theirs, ours) in theirs.lines.iter().zip(&self.lines) {
            assert_eq!(theirs, ours, "{whose}");
        }
        for (topic, (theirs, ours)) in TOPICS.iter().zip(theirs.batches.iter().zip(&self.batches)) {
            assert_eq!(theirs.len(), ours.len(), "batches of {topic}, {whose}");
            for (at, (theirs, ours)) in theirs.iter().zip(ours).enumerate() {
                assert!(theirs == ours, "batch {at} of {topic}, {whose}");
            }
        }
    }
}

fn topic_ids(wire: &mut Wire) -> String {
    ready("metadata", || {
        let topic =
            |name: &&str| MetadataRequestTopic { name: Some((*name).to_owned()), ..Default::default() };
        let topics = Some(TOPICS.iter().map(topic).collect());
        let answer =
            wire.call(12, &MetadataRequest { topics, ..Default::default() }).map_err(|e| e.to_string())?;
        let mut ids = Vec::new();
        for topic in &answer.topics {
            settled("Metadata", topic.error_code)?;
            settled("Metadata", topic.partitions[0].error_code)?;
            ids.push(format!("{:?} {} of {}", topic.name, topic.topic_id, topic.partitions.len()));
        }
        ids.sort();
        Ok(format!("{:?} {ids:?}", answer.cluster_id))
    })
}

fn groups(wire: &mut Wire) -> String {
    ready("groups", || {
        let answer = wire.call(4, &ListGroupsRequest::default()).map_err(|e| e.to_string())?;
        settled("ListGroups", answer.error_code)?;
        let mut groups: Vec<String> = answer
            .groups
            .iter()
            .map(|group| format!("{} {} {}", group.group_id, group.protocol_type, group.group_state))
            .collect();
        groups.sort();
        Ok(format!("{groups:?}"))
    })
}

fn offset_of(wire: &mut Wire, topic: &str, timestamp: i64) -> String {
    ready("an offset", || {
        let partition = ListOffsetsPartition { partition_index: 0, timestamp, ..Default::default() };
        let topics = vec![ListOffsetsTopic { name: topic.to_owned(), partitions: vec![partition] }];
        let request = ListOffsetsRequest { replica_id: -1, topics, ..Default::default() };
        let answer = wire.call(7, &request).map_err(|e| e.to_string())?;
        let found = &answer.topics[0].partitions[0];
        settled("ListOffsets", found.error_code)?;
        // The latest offset is told with the epoch of today.
        let epoch = if timestamp == -1 { 0 } else { found.leader_epoch };
        Ok(format!("{topic} at {timestamp}: {} {} {epoch}", found.offset, found.timestamp))
    })
}

fn epoch_end(wire: &mut Wire, topic: &str, leader_epoch: i32) -> String {
    ready("an epoch's end", || {
        let partition = OffsetForLeaderPartition { leader_epoch, ..Default::default() };
        let topics = vec![OffsetForLeaderTopic { topic: topic.to_owned(), partitions: vec![partition] }];
        let request = OffsetForLeaderEpochRequest { replica_id: -1, topics };
        let answer = wire.call(4, &request).map_err(|e| e.to_string())?;
        let found = &answer.topics[0].partitions[0];
        settled("OffsetForLeaderEpoch", found.error_code)?;
        Ok(format!("{topic} epoch {leader_epoch}: {} {}", found.leader_epoch, found.end_offset))
    })
}

fn committed(wire: &mut Wire, group: &str) -> String {
    ready("committed offsets", || {
        let topic = OffsetFetchRequestTopic { name: CODECS.to_owned(), partition_indexes: vec![0] };
        let (group_id, topics) = (group.to_owned(), Some(vec![topic]));
        let request = OffsetFetchRequest { group_id, topics, ..Default::default() };
        let answer = wire.call(5, &request).map_err(|e| e.to_string())?;
        settled("OffsetFetch", answer.error_code)?;
        let found = &answer.topics[0].partitions[0];
        settled("OffsetFetch", found.error_code)?;
        Ok(format!("{group}: {} {:?}", found.committed_offset, found.metadata))
    })
}

/// All that is known of a transactional id.
fn transaction(wire: &mut Wire, id: &str) -> String {
    ready("a transaction", || {
        let request = DescribeTransactionsRequest { transactional_ids: vec![id.to_owned()] };
        let mut answer = wire.call(0, &request).map_err(|e| e.to_string())?;
        let state = answer.transaction_states.remove(0);
        settled("DescribeTransactions", state.error_code)?;
        // What is prepared is about to be complete.
        if state.transaction_state.starts_with("Prepare") {
            Err(format!("{state:?}"))
        } else {
            Ok(format!("{state:?}"))
        }
    })
}

fn transactions(wire: &mut Wire) -> String {
    ready("transactions", || {
        let answer = wire.call(1, &ListTransactionsRequest::default()).map_err(|e| e.to_string())?;
        settled("ListTransactions", answer.error_code)?;
        let mut all: Vec<String> =
            answer.transaction_states.iter().map(|state| format!("{state:?}")).collect();
        all.sort();
        Ok(format!("{all:?}"))
    })
}

/// Every batch as it is stored, and the aborted transactions: producer and first offset.
fn batches_of(wire: &mut Wire, topic: &str) -> (Vec<Vec<u8>>, Vec<(i64, i64)>) {
    let (mut found, mut all_aborted, mut next) = (Vec::new(), Vec::new(), 0);
    loop {
        let (records, aborted, end) = ready("a fetch", || {
            let (partition, fetch_offset, partition_max_bytes) = (0, next, 1 << 20);
            let partition =
                FetchPartition { partition, fetch_offset, partition_max_bytes, ..Default::default() };
            let topic =
                FetchTopic { topic: topic.to_owned(), partitions: vec![partition], ..Default::default() };
            let request = FetchRequest {
                max_bytes: 1 << 20,
                isolation_level: 1,
                topics: vec![topic],
                ..Default::default()
            };
            let mut answer = wire.call(12, &request).map_err(|e| e.to_string())?;
            let data = answer.responses.remove(0).partitions.remove(0);
            settled("Fetch", data.error_code)?;
            let aborted = data.aborted_transactions.unwrap_or_default();
            let aborted: Vec<(i64, i64)> =
                aborted.iter().map(|one| (one.producer_id, one.first_offset)).collect();
            Ok((data.records.unwrap_or_default(), aborted, data.last_stable_offset))
        });
        for one in aborted {
            if !all_aborted.contains(&one) {
                all_aborted.push(one);
            }
        }
        let before = next;
        for batch in Batches::new(&records) {
            let batch = batch.unwrap();
            batch.check_crc().unwrap();
            next = batch.header().next_offset();
            found.push(batch.bytes().to_vec());
        }
        if next >= end || next == before {
            all_aborted.sort_unstable();
            return (found, all_aborted);
        }
    }
}

/// The compacted topic in words, without what differs from run to run: times of the broker's own, producer ids.
pub fn compacted_records(wire: &mut Wire) -> Vec<String> {
    let mut lines = Vec::new();
    for bytes in batches_of(wire, COMPACTED).0 {
        let batch = BatchView::first(&bytes).unwrap().unwrap();
        let header = batch.header();
        let control = header.attributes.control();
        let mut scratch = Scratch::default();
        let text = |bytes: Option<&[u8]>| bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let records: Vec<String> = batch
            .records(&mut scratch, Caps::default())
            .unwrap()
            .map(|record| {
                let record = record.unwrap();
                match ControlType::of(&record).filter(|_| control) {
                    Some(kind) => format!("{kind:?}"),
                    None => {
                        let offset = record.offset(header.base_offset);
                        let time = record.timestamp(header);
                        format!("{offset} {:?}={:?} at {time}", text(record.key), text(record.value))
                    }
                }
            })
            .collect();
        let horizon = header.attributes.delete_horizon();
        let largest = if control { 0 } else { header.max_timestamp };
        let base = if control || horizon { 0 } else { header.base_timestamp };
        lines.push(format!(
            "{}..{} attributes {:#x} sequence {} times {base} {largest}: {records:?}",
            header.base_offset,
            header.last_offset(),
            header.attributes.0,
            header.base_sequence,
        ));
    }
    lines
}
