//! How much of a log there is to compact, and whether it is worth it.

use crate::clock::Now;
use crate::storage::log::Log;
use crate::storage::scan::{HeaderScan, ScanError};
use crate::storage::{LogConfig, ReadError};

/// What there is to compact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Everything below has been compacted.
    pub first_dirty: i64,
    /// Nothing from here on may be touched: the active segment, open transactions, records that are too new.
    pub first_uncleanable: i64,
    /// Bytes of dirty segments over all that could be compacted, 0 to 1.
    pub dirty_ratio: f64,
    /// Bytes of dirty segments.
    pub dirty_bytes: u64,
    /// A record has waited for `max.compaction.lag.ms`.
    overdue: bool,
    /// What was remembered made no sense and was dropped.
    pub restarted: bool,
}

/// A segment as the plan sees it.
#[derive(Clone, Copy, Debug)]
struct Facts {
    base: i64,
    bytes: u64,
    /// Largest timestamp, ms.
    largest: i64,
}

impl Plan {
    /// Looks at a log that was compacted up to `cleaned_to` (`None`: never). `stable_end` is the last stable offset.
    ///
    /// # Errors
    /// An index or a header cannot be read.
    pub fn of(log: &Log, cleaned_to: Option<i64>, stable_end: i64, now: Now) -> Result<Plan, ReadError> {
        let config = log.config();
        let segments = log.segments.load_full();
        let mut facts = Vec::with_capacity(segments.len());
        for segment in segments.iter() {
            // Only asked for where it counts: it may have to be read from an index.
            let largest = match config.min_compaction_lag_ms > 0 {
                true => segment
                    .largest_timestamp(log.disk.as_ref())
                    .map_err(|source| ReadError::Storage(log.io("read an index in")(source)))?,
                false => -1,
            };
            facts.push(Facts { base: segment.base, bytes: segment.bytes(), largest });
        }
        let bounds = (log.start_offset(), log.end_offset());
        let mut plan = Plan::decide(&facts, &config, bounds, cleaned_to, stable_end, now);
        if config.max_compaction_lag_ms < i64::MAX && plan.dirty_bytes > 0 {
            let oldest = now.wall_ms.saturating_sub(config.max_compaction_lag_ms.max(0));
            let first = floor(&facts, plan.first_dirty);
            let sealed = segments.len().saturating_sub(1);
            for segment in segments.iter().take(sealed).skip(first) {
                let file = segment
                    .file(log.disk.as_ref())
                    .map_err(|source| ReadError::Storage(log.io("open a segment of")(source)))?;
                let header = HeaderScan::new(file, 0, segment.bytes()).next();
                let header = header.map_err(|error| match error {
                    ScanError::Io(source) => ReadError::Storage(log.io("read")(source)),
                    ScanError::Bad { position, what } => ReadError::Corrupt { position, what },
                })?;
                let timestamp = header.map_or(-1, |found| found.header.max_timestamp);
                plan.overdue |= timestamp > 0 && timestamp < oldest;
            }
        }
        Ok(plan)
    }

    /// Is it time to compact?
    pub fn is_due(&self, config: &LogConfig) -> bool {
        self.dirty_bytes > 0 && (self.overdue || self.dirty_ratio > config.min_cleanable_dirty_ratio)
    }

    fn decide(
        segments: &[Facts],
        config: &LogConfig,
        (start, end): (i64, i64),
        cleaned_to: Option<i64>,
        stable_end: i64,
        now: Now,
    ) -> Plan {
        let remembered = cleaned_to.unwrap_or(start);
        let restarted = remembered < start || remembered > end;
        let first_dirty = if restarted { start } else { remembered };
        let active_base = segments.last().map_or(0, |active| active.base);
        let dirty = || {
            let from = if first_dirty > active_base { segments.len() } else { floor(segments, first_dirty) };
            segments.iter().skip(from).filter(move |segment| segment.base < active_base)
        };
        let mut uncleanable = stable_end.min(active_base);
        if config.min_compaction_lag_ms > 0 {
            let newest = now.wall_ms.saturating_sub(config.min_compaction_lag_ms);
            let young = dirty().find(|segment| segment.largest > newest);
            uncleanable = young.map_or(uncleanable, |segment| uncleanable.min(segment.base));
        }
        // Whole segments only: the one that holds the first uncleanable offset is out.
        let first_uncleanable = segments
            .get(floor(segments, uncleanable.max(first_dirty)))
            .map_or(active_base, |segment| segment.base.min(active_base));
        let sum = |from: i64, to: i64| -> u64 {
            if from >= to {
                return 0;
            }
            let within = segments.iter().skip(floor(segments, from)).filter(|segment| segment.base < to);
            within.map(|segment| segment.bytes).sum()
        };
        let clean_bytes = sum(i64::MIN, first_dirty);
        let dirty_bytes = sum(first_dirty.min(first_uncleanable), first_uncleanable);
        let total = clean_bytes.saturating_add(dirty_bytes);
        #[expect(clippy::cast_precision_loss, reason = "a ratio")]
        let dirty_ratio = if total == 0 { 0.0 } else { dirty_bytes as f64 / total as f64 };
        Plan { first_dirty, first_uncleanable, dirty_ratio, dirty_bytes, overdue: false, restarted }
    }
}

/// The place of the segment that holds an offset.
fn floor(segments: &[Facts], offset: i64) -> usize {
    segments.partition_point(|segment| segment.base <= offset).saturating_sub(1)
}
