//! Putting the answer to a fetch together: bytes for what is said, ranges of files for the records.

use std::io;
use std::sync::Arc;

use barnabas_protocol::fetch::{
    AbortedTransaction, EpochAndOffset, FetchRequest, FetchResponseWriter, PartitionAnswer,
};
use barnabas_protocol::{ErrorCode, LeaderIdAndEpoch, NodeEndpoint, TopicRef};

use super::ID_VERSION;
use super::gather::Part;
use crate::controller::image::BrokerImage;
use crate::handlers::{Answer, Ctx, Out, Outcome};
use crate::ids::Uuid;

/// New leaders are named from here on (KIP-951).
const LEADER_VERSION: i16 = 16;

/// An answer about the request as a whole; versions below 7 have no place for it and get no topics.
pub fn refuse(ctx: &Ctx<'_>, out: &mut Out, code: ErrorCode) -> Answer {
    FetchResponseWriter::begin(out.bytes(), ctx.version, 0, code.code(), 0, 0).finish(&[]);
    Ok(Outcome::Done)
}

/// An answer about the request as a whole, told of each of its partitions, too, as long as they go by name.
pub fn refuse_all(ctx: &Ctx<'_>, out: &mut Out, request: &FetchRequest<'_>, code: ErrorCode) -> Answer {
    let topics = request.topics.clone().filter(|_| ctx.version < ID_VERSION);
    let mut writer =
        FetchResponseWriter::begin(out.bytes(), ctx.version, 0, code.code(), 0, topics.clone().count());
    for topic in topics {
        let TopicRef::Name(name) = &topic.topic else { continue };
        writer.topic(name, Uuid::ZERO, topic.partitions.clone().count());
        for partition in topic.partitions {
            let mut answer = PartitionAnswer::refused(partition.partition, code.code());
            answer.aborted_transactions = Some(&[]);
            writer.partition(&answer, 0, |_| {});
        }
    }
    writer.finish(&[]);
    Ok(Outcome::Done)
}

/// Writes the parts, those of a topic that follow one another under one heading.
pub fn write(ctx: &Ctx<'_>, out: &mut Out, session_id: i32, parts: &[Part]) -> Answer {
    let same = |a: &Part, b: &Part| a.topic == b.topic && a.id == b.id;
    let topics = parts.chunk_by(same).count();
    let mut leaders = Vec::new();
    let mut failure = Ok(());
    let (bytes, mut files) = out.split();
    let mut writer = FetchResponseWriter::begin(bytes, ctx.version, 0, 0, session_id, topics);
    for topic in parts.chunk_by(same) {
        let Some(first) = topic.first() else { continue };
        writer.topic(&first.topic, first.id, topic.len());
        for part in topic {
            write_part(ctx, &mut writer, part, &mut leaders, &mut |bytes, chunk| {
                if let Err(error) = files.splice(bytes, chunk.clone()) {
                    failure = Err(error);
                }
            });
        }
    }
    if leaders.is_empty() {
        writer.finish(&[]);
    } else {
        leaders.sort_unstable();
        leaders.dedup();
        let image = ctx.rooms.image();
        let brokers: Vec<_> = leaders.iter().filter_map(|id| image.broker(*id)).collect();
        writer.finish(&endpoints(ctx, &brokers));
    }
    failure.map(|()| Outcome::Done).map_err(|error: io::Error| error.into())
}

/// Where these brokers are reached on the listener that the request came in by.
fn endpoints<'a>(ctx: &Ctx<'_>, brokers: &[&'a Arc<BrokerImage>]) -> Vec<NodeEndpoint<'a>> {
    let endpoint = |broker: &&'a Arc<BrokerImage>| {
        broker.endpoint(&ctx.session.listener).map(|at| NodeEndpoint {
            node_id: broker.id,
            host: &at.host,
            port: i32::from(at.port),
            rack: broker.rack.as_deref(),
        })
    };
    brokers.iter().filter_map(endpoint).collect()
}

fn write_part(
    ctx: &Ctx<'_>,
    writer: &mut FetchResponseWriter<'_>,
    part: &Part,
    leaders: &mut Vec<i32>,
    records: &mut dyn FnMut(&mut Vec<u8>, &crate::disk::Chunk),
) {
    let fetched = match &part.result {
        Ok(fetched) => fetched,
        Err(code) => {
            let mut answer = PartitionAnswer::refused(part.index, code.code());
            answer.aborted_transactions = part.is_unknown().then_some(&[]);
            answer.current_leader = current_leader(ctx, part, *code);
            leaders.extend(answer.current_leader.map(|leader| leader.leader_id));
            writer.partition(&answer, 0, |_| {});
            return;
        }
    };
    let aborted: Option<Vec<AbortedTransaction>> = fetched.aborted.as_ref().map(|list| {
        let short = |aborted: &crate::storage::AbortedTransaction| AbortedTransaction {
            producer_id: aborted.producer_id,
            first_offset: aborted.first_offset,
        };
        list.iter().map(short).collect()
    });
    let answer = PartitionAnswer {
        high_watermark: fetched.high_watermark,
        last_stable_offset: fetched.last_stable_offset,
        log_start_offset: fetched.log_start_offset,
        aborted_transactions: aborted.as_deref(),
        diverging_epoch: fetched
            .diverging
            .map(|end| EpochAndOffset { epoch: end.epoch, end_offset: end.end_offset }),
        ..PartitionAnswer::refused(part.index, 0)
    };
    let length = usize::try_from(fetched.records.len()).unwrap_or(usize::MAX);
    writer.partition(&answer, length, |bytes| records(bytes, &fetched.records));
}

/// Who leads instead, for a client that knocked at the wrong door or knows an old epoch.
fn current_leader(ctx: &Ctx<'_>, part: &Part, code: ErrorCode) -> Option<LeaderIdAndEpoch> {
    let moved = matches!(code, ErrorCode::NotLeaderOrFollower | ErrorCode::FencedLeaderEpoch);
    if !moved || ctx.version < LEADER_VERSION {
        return None;
    }
    let image = ctx.rooms.image();
    let partition = image.topic(&part.topic)?.partition(part.index)?;
    Some(LeaderIdAndEpoch { leader_id: partition.leader, leader_epoch: partition.leader_epoch })
}
