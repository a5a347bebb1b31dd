//! What lies beside the metadata log: were the log's end gone, or all of it, the partitions that it told of would be
//! put aside as if nobody wanted them. A directory in use without its log, and partitions that the log has never heard
//! of, stop the start.

use std::path::PathBuf;

use super::{DIRECTORY, Opening, Place, SnapshotId};
use crate::controller::error::ControllerError;
use crate::controller::state::Hard;
use crate::storage::log_dir::{DirKind, DirName, read_topic_id};

/// What Kafka's `format` writes where the voters are static: the first records of the cluster.
const BOOTSTRAP: &str = "bootstrap.checkpoint";

/// Is everything there explained by what was replayed (`empty`: that was nothing)?
pub(super) fn check(
    opening: &Opening,
    place: &Place,
    hard: &Hard,
    empty: bool,
) -> Result<(), ControllerError> {
    let corrupt = |what: String| Err(ControllerError::Corrupt { path: place.dir.clone(), what });
    let unheard_of = unheard_of(opening, hard);
    if let Some(example) = unheard_of.first() {
        return corrupt(format!(
            "it knows nothing of {} partitions in the log directories, such as {}: its end is gone, or all of it. \
             Restore it from a copy; to start without these partitions, move their directories away",
            unheard_of.len(),
            example.display()
        ));
    }
    check_log(opening, place, empty)
}

/// Is a log that is empty one that was never written?
pub(in crate::controller) fn check_log(
    opening: &Opening,
    place: &Place,
    empty: bool,
) -> Result<(), ControllerError> {
    let formatted = |path: PathBuf| {
        let meta = place.disk.meta(&path).map_err(ControllerError::io("look at", &path))?;
        Ok::<bool, ControllerError>(meta.is_some())
    };
    if empty
        && !opening.fresh
        && !formatted(place.dir.join(SnapshotId::FRESH.file_name(super::snapshot::COMPLETE)))?
        && !formatted(opening.dir.join(BOOTSTRAP))?
    {
        let what =
            "it is gone, though the directory is in use (meta.properties). Restore it from a copy; to begin \
                    anew, empty the log directories"
                .to_owned();
        return Err(ControllerError::Corrupt { path: place.dir.clone(), what });
    }
    Ok(())
}

/// Directories of partitions whose topic never was in the log. One that was deleted may be left from a crash.
fn unheard_of(opening: &Opening, hard: &Hard) -> Vec<PathBuf> {
    let disk = opening.disk.as_ref();
    let mut found = Vec::new();
    for dir in &opening.log_dirs {
        // One that cannot be read is told of, and taken offline, when its logs are opened.
        for entry in disk.list(dir).unwrap_or_default() {
            let name = DirName::parse(&entry.name).filter(|_| entry.meta.is_dir && entry.name != DIRECTORY);
            let Some(name) = name.filter(|name| name.kind == DirKind::Current) else { continue };
            if hard.image.topic(&name.partition.topic).is_some() {
                continue;
            }
            let path = dir.join(&entry.name);
            // Who has no id was never flushed, or is of another make: it is put aside.
            let Ok(Some(id)) = read_topic_id(disk, &path) else { continue };
            if hard.image.topic_by_id(id).is_none() && !hard.changes.removed.contains_key(&id) {
                found.push(path);
            }
        }
    }
    found
}
