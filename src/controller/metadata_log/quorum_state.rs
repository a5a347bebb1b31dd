//! The file `quorum-state`: which epoch this node has led, so that no epoch has two leaders.

use super::Place;
use crate::controller::error::ControllerError;

const NAME: &str = "quorum-state";

/// What the file says, as far as one node needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QuorumState {
    /// The highest epoch seen.
    pub(super) epoch: i32,
    /// 0 with static voters, 1 with dynamic ones (KIP-853).
    pub(super) data_version: i32,
}

/// Reads the file; `None` if the node never was in a quorum.
pub(super) fn read(place: &Place) -> Result<Option<QuorumState>, ControllerError> {
    let path = place.dir.join(NAME);
    let failed = ControllerError::io("read", &path);
    match place.disk.meta(&path) {
        Ok(None) => return Ok(None),
        Ok(Some(_)) => {}
        Err(error) => return Err(failed(error)),
    }
    let bytes = place.disk.read(&path).map_err(failed)?;
    let text = String::from_utf8_lossy(&bytes);
    let corrupt = |what: &str| ControllerError::Corrupt { path: path.clone(), what: what.to_owned() };
    let epoch = number(&text, "leaderEpoch").ok_or_else(|| corrupt("it has no leaderEpoch"))?;
    let data_version = number(&text, "data_version").ok_or_else(|| corrupt("it has no data_version"))?;
    match data_version {
        0 | 1 => Ok(Some(QuorumState { epoch, data_version })),
        _ => Err(corrupt("its data_version is of the future")),
    }
}

/// Replaces the file; what it says is durable when this returns.
pub(super) fn write(place: &Place, node: i32, state: QuorumState) -> Result<(), ControllerError> {
    let path = place.dir.join(NAME);
    let epoch = state.epoch;
    let text = if state.data_version == 0 {
        format!(
            r#"{{"clusterId":"","leaderId":{node},"leaderEpoch":{epoch},"votedId":-1,"appliedOffset":0,"currentVoters":[{{"voterId":{node}}}],"data_version":0}}"#
        )
    } else {
        format!(
            r#"{{"leaderId":{node},"leaderEpoch":{epoch},"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}}"#
        )
    };
    place.disk.replace(&path, text.as_bytes()).map_err(ControllerError::io("write", &path))
}

/// The number after a name. The file is flat enough that a parser would be more than it needs.
fn number(json: &str, name: &str) -> Option<i32> {
    let (_, after) = json.split_once(&format!("\"{name}\""))?;
    let value = after.trim_start().strip_prefix(':')?.trim_start();
    let end = value.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(value.len());
    value.get(..end)?.parse().ok()
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::clock::Clock;
    use crate::disk::MemoryDisk;

    #[test]
    fn the_file_is_kafkas() {
        let place = Place { disk: MemoryDisk::new(Clock::simulated(0)).shared(), dir: "/m".into() };
        place.disk.create_dir(&place.dir).unwrap();
        assert_eq!(read(&place).unwrap(), None);
        let state = QuorumState { epoch: 7, data_version: 0 };
        write(&place, 3, state).unwrap();
        assert_eq!(read(&place).unwrap(), Some(state));
        let text = String::from_utf8(place.disk.read(&place.dir.join(NAME)).unwrap()).unwrap();
        let expected = r#"{"clusterId":"","leaderId":3,"leaderEpoch":7,"votedId":-1,"appliedOffset":0,"currentVoters":[{"voterId":3}],"data_version":0}"#;
        assert_eq!(text, expected);
    }

    #[test]
    fn nonsense_is_refused() {
        let place = Place { disk: MemoryDisk::new(Clock::simulated(0)).shared(), dir: "/m".into() };
        place.disk.create_dir(&place.dir).unwrap();
        place.disk.replace(&place.dir.join(NAME), b"{}").unwrap();
        assert!(matches!(read(&place), Err(ControllerError::Corrupt { .. })));
    }
}
