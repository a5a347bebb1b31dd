//! Blocks of producer ids.

use std::ops::Range;

use barnabas_protocol::error::ErrorCode;
use barnabas_protocol::messages::records::metadata::ProducerIdsRecord;
use barnabas_protocol::messages::{AllocateProducerIdsRequest, AllocateProducerIdsResponse};

use super::super::image::Image;
use super::{Decision, Refusal, ReplayError, registration};

/// How many ids one block has.
pub const BLOCK: i64 = 1000;

/// AllocateProducerIds: the next block for a broker that asks from elsewhere.
pub fn answer(
    image: &Image,
    request: &AllocateProducerIdsRequest,
) -> Decision<Result<AllocateProducerIdsResponse, Refusal>> {
    if let Err(refusal) = registration::check_epoch(image, request.broker_id, request.broker_epoch) {
        return Decision::only(Err(refusal));
    }
    let Decision { records, reply } = allocate(image, request.broker_id, request.broker_epoch);
    let reply = reply.map(|block| AllocateProducerIdsResponse {
        producer_id_start: block.start,
        producer_id_len: i32::try_from(BLOCK).unwrap_or_default(),
        ..Default::default()
    });
    Decision { records, reply }
}

/// The next block for a broker. What a broker does not hand out before it stops is lost: ids are plenty.
pub fn allocate(image: &Image, broker: i32, broker_epoch: i64) -> Decision<Result<Range<i64>, Refusal>> {
    let first = image.next_producer_id;
    let Some(next) = first.checked_add(BLOCK) else {
        let message =
            "Exhausted all producerIds as the next block's end producerId has exceeded the int64 type limit";
        return Decision::only(Err(Refusal::new(ErrorCode::UnknownServerError, message)));
    };
    let record = ProducerIdsRecord { broker_id: broker, broker_epoch, next_producer_id: next };
    Decision { records: vec![record.into()], reply: Ok(first..next) }
}

pub(super) fn replay(image: &mut Image, record: &ProducerIdsRecord) -> Result<(), ReplayError> {
    if record.next_producer_id <= image.next_producer_id {
        return Err(ReplayError::ProducerIdsWentBack(record.next_producer_id));
    }
    image.next_producer_id = record.next_producer_id;
    Ok(())
}
