//! Batches that unpack to much are checked, and compressed anew, aside: meanwhile the connections of this worker are
//! served. The request pauses at such a batch and goes on behind it.

use barnabas_protocol::batch::{Caps, Codec, Facts, Fault, RawBatch, Rules, Scratch, ValidBatch};
use barnabas_protocol::produce::{PausedAnswer, ProduceRequest};
use tokio::sync::oneshot;

use super::{Progress, append_all};
use crate::handlers::{Answer, CloseReason, Ctx, before_it_begins};

/// A request may unpack so many bytes before others have their turn...
const AT_ONCE_BYTES: u64 = 16 << 20;
/// ...or so many times its size.
const AT_ONCE_RATIO: u64 = 16;

/// What a request of this size may unpack before it has to pause, in bytes.
pub(super) fn allowance(request_bytes: usize) -> u64 {
    let bytes = u64::try_from(request_bytes).unwrap_or(u64::MAX);
    bytes.saturating_mul(AT_ONCE_RATIO).clamp(AT_ONCE_BYTES, Caps::MOST_BYTES)
}

/// The codec and level that a topic has its batches compressed by.
pub(super) type Wanted = Option<(Codec, Option<i32>)>;

/// A batch that passed its checks.
pub(super) struct Checked {
    pub(super) facts: Facts,
    /// It was compressed anew.
    pub(super) repacked: Option<Vec<u8>>,
}

/// A batch that has to be checked aside.
pub(super) struct Aside {
    /// The how manieth partition of the request it is for.
    pub(super) place: usize,
    pub(super) rules: Rules,
    pub(super) wanted: Wanted,
}

/// Where a request goes on.
pub(super) struct Resumed {
    pub(super) place: usize,
    pub(super) answer: PausedAnswer,
    pub(super) checked: Option<Result<Checked, Fault>>,
}

/// Checks a batch, and compresses it by the codec that its topic asks for, into `repacked`.
pub(super) fn check<'a>(
    raw: RawBatch<'a>,
    rules: &Rules,
    wanted: Wanted,
    scratch: &mut Scratch,
    repacked: &'a mut Vec<u8>,
) -> Result<ValidBatch<'a>, Fault> {
    let batch = raw.validate(rules, scratch)?;
    match wanted.filter(|(codec, _)| *codec != batch.facts().codec) {
        Some((codec, level)) => batch.recompress(codec, level, rules.max_bytes, scratch, repacked),
        None => Ok(batch),
    }
}

impl Aside {
    fn check(&self, version: i16, body: &mut [u8]) -> Result<Checked, Fault> {
        let request = ProduceRequest::read(version, body).map_err(|_| Fault::NoBatch)?;
        let mut partitions = request.topics.flat_map(|topic| topic.partitions);
        let records = partitions.nth(self.place).and_then(|partition| partition.records);
        let raw = RawBatch::sole(records.ok_or(Fault::NoBatch)?, true)?;
        let mut repacked = Vec::new();
        let rules = Rules { caps: Caps { bytes: Caps::MOST_BYTES, ..self.rules.caps }, ..self.rules };
        let batch = check(raw, &rules, self.wanted, &mut Scratch::default(), &mut repacked)?;
        let facts = *batch.facts();
        Ok(Checked { facts, repacked: (!repacked.is_empty()).then_some(repacked) })
    }
}

/// Parks a request until a batch of it has been checked.
pub(super) fn park(ctx: &Ctx<'_>, body: &[u8], aside: Aside, mut progress: Progress) -> Answer {
    let (sender, receiver) = oneshot::channel();
    let (version, mut body) = (ctx.version, body.to_vec());
    let held_bytes = body.len();
    ctx.rooms.unpacking.run(move || {
        // Whose connection is gone needs no answer.
        if !sender.is_closed() {
            let checked = aside.check(version, &mut body);
            let _gone = sender.send((body, checked));
        }
    });
    before_it_begins(receiver, held_bytes, move |(mut body, checked), ctx, out| {
        if let Some(resumed) = &mut progress.resumed {
            resumed.checked = Some(checked);
        }
        let request = ProduceRequest::read(ctx.version, &mut body).map_err(CloseReason::Decode)?;
        let allowance = allowance(held_bytes);
        let paused = append_all(ctx, request, allowance, out, &mut progress);
        progress.finish(ctx, &body, paused, out)
    })
}
