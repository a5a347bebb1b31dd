//! The producers' state at an offset: the newest sound snapshot and the batches after it.

use std::ops::{Range, RangeInclusive};
use std::path::Path;
use std::sync::Arc;

use barnabas_protocol::batch::{BatchView, Header, Producer};

use crate::disk::Disk;
use crate::storage::AbortedTransaction;
use crate::storage::appender::marker_of;
use crate::storage::producers::{self, Producers};
use crate::storage::scan::{Found, HeaderScan, ScanError};
use crate::storage::segment::Segment;

/// What the producers have written below `end`; those silent since before `oldest` (ms) are forgotten. Snapshots
/// beyond `end` are removed.
pub(crate) fn reload_producers(
    disk: &dyn Disk,
    dir: &Path,
    segments: &[Arc<Segment>],
    end: i64,
    oldest: i64,
) -> Result<Producers, ScanError> {
    let first = segments.first().map_or(end, |segment| segment.base);
    let (from, mut producers) = newest_snapshot(disk, dir, first..=end)?;
    producers.expire(oldest);
    catch_up(disk, segments, from..end, &mut producers)?;
    Ok(producers)
}

/// Notes what lies within a range of offsets.
pub(super) fn catch_up(
    disk: &dyn Disk,
    segments: &[Arc<Segment>],
    range: Range<i64>,
    producers: &mut Producers,
) -> Result<(), ScanError> {
    if range.is_empty() {
        return Ok(());
    }
    let first = segments.partition_point(|segment| segment.base <= range.start).saturating_sub(1);
    let mut within = segments.iter().skip(first).filter(|segment| segment.base < range.end);
    within.try_for_each(|segment| replay(disk, segment, range.clone(), producers))
}

/// The state at the newest sound snapshot within a range, and where that is. Others are removed: beyond the log's end
/// they mean nothing, and below its beginning they do not know of what was deleted since.
pub(super) fn newest_snapshot(
    disk: &dyn Disk,
    dir: &Path,
    range: RangeInclusive<i64>,
) -> Result<(i64, Producers), ScanError> {
    let mut offsets: Vec<i64> =
        disk.list(dir)?.iter().filter_map(|entry| producers::parse_file_name(&entry.name)).collect();
    offsets.sort_unstable();
    while let Some(offset) = offsets.pop() {
        let path = dir.join(producers::file_name(offset));
        if range.contains(&offset) {
            let bytes = disk.read(&path)?;
            if let Some(producers) = producers::decode(&bytes) {
                return Ok((offset, producers));
            }
        }
        disk.remove_file(&path)?;
    }
    Ok((0, Producers::default()))
}

/// Notes a batch that has been read; gives the transaction that it aborts.
pub(super) fn note(producers: &mut Producers, batch: &BatchView<'_>) -> Option<AbortedTransaction> {
    let producer = note_data(producers, batch.header())?;
    producers.apply_marker(batch.header(), &producer, marker_of(batch.bytes())?)
}

/// Notes a batch of data; gives the producer of a control batch, of which more is needed than its header.
fn note_data(producers: &mut Producers, header: &Header) -> Option<Producer> {
    let producer = header.producer()?;
    if header.attributes.control() {
        return Some(producer);
    }
    producers.apply(header, &producer);
    None
}

/// Notes the batches of a segment that lie within a range of offsets.
fn replay(
    disk: &dyn Disk,
    segment: &Segment,
    range: Range<i64>,
    producers: &mut Producers,
) -> Result<(), ScanError> {
    let file = segment.file(disk)?;
    let start =
        segment.find(disk, range.start, segment.bytes())?.map_or(segment.bytes(), |found| found.position);
    let mut scan = HeaderScan::new(Arc::clone(&file), start, segment.bytes());
    while let Some(Found { position, header }) = scan.next()? {
        if header.base_offset >= range.end {
            break;
        }
        let Some(producer) = note_data(producers, &header) else { continue };
        let mut bytes = vec![0; header.total_bytes()];
        file.read_at(position, &mut bytes)?;
        if let Some(marker) = marker_of(&bytes) {
            producers.apply_marker(&header, &producer, marker);
        }
    }
    Ok(())
}
