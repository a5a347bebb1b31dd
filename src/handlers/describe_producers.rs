//! DescribeProducers (61), version 0: who writes to a partition, and since when a transaction is open in it (KIP-664).

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::describe_producers::{
    PartitionResponse, ProducerState, TopicRequest, TopicResponse,
};
use barnabas_protocol::messages::{DescribeProducersRequest, DescribeProducersResponse};

use super::{Answer, Ctx, Operation, Out, Resource, error, hash_order};
use crate::controller::names;

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: DescribeProducersRequest = ctx.decode(body)?;
    let named = |topic: &TopicRequest| topic.partition_indexes.clone().into_iter();
    let pairs =
        request.topics.iter().flat_map(|topic| named(topic).map(|index| (topic.name.as_str(), index)));
    let mut described = ctx.gather(pairs.map(|(topic, index)| describe(ctx, topic, index)))?.into_iter();
    let topics = request.topics.iter().map(|topic| TopicResponse {
        partitions: described.by_ref().take(topic.partition_indexes.len()).collect(),
        name: topic.name.clone(),
    });
    ctx.respond(out, &DescribeProducersResponse { topics: topics.collect(), ..Default::default() })
}

fn describe(ctx: &Ctx<'_>, topic: &str, partition_index: i32) -> PartitionResponse {
    let result = if names::fault_of(topic).is_some() {
        Err(ErrorCode::InvalidTopicException)
    } else if ctx.authorize(Operation::Read, Resource::Topic(topic)) {
        let partition = ctx.rooms.partitions.partition(topic, partition_index);
        partition.and_then(|partition| partition.producers()).map_err(|cause| error::partition(&cause))
    } else {
        Err(ErrorCode::TopicAuthorizationFailed)
    };
    let response = PartitionResponse { partition_index, ..Default::default() };
    match result {
        Ok(producers) => {
            let producers =
                hash_order::by_id(producers, |producer| producer.id).into_iter().map(|producer| {
                    ProducerState {
                        producer_id: producer.id,
                        producer_epoch: i32::from(producer.epoch),
                        last_sequence: producer.last_sequence,
                        last_timestamp: producer.last_timestamp,
                        coordinator_epoch: producer.coordinator_epoch,
                        current_txn_start_offset: producer.open_since.unwrap_or(-1),
                    }
                });
            PartitionResponse { active_producers: producers.collect(), ..response }
        }
        Err(code) => PartitionResponse { error_code: code.code(), ..response },
    }
}
