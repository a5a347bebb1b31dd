//! The file `quorum-state`: the epoch, and whom this node follows or has voted for in it, so that no epoch has two
//! leaders.

use super::Place;
use crate::controller::error::ControllerError;
use crate::ids::Uuid;

const NAME: &str = "quorum-state";

/// What the file says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::controller) struct QuorumState {
    /// The highest epoch seen.
    pub(in crate::controller) epoch: i32,
    /// Who leads it, if that is known.
    pub(in crate::controller) leader: Option<i32>,
    /// Whom this node gave its vote.
    pub(in crate::controller) voted: Option<i32>,
    /// The directory of the one that has the vote; zero if unknown.
    pub(in crate::controller) voted_directory: Uuid,
    /// 0 with static voters, 1 with dynamic ones (KIP-853).
    pub(in crate::controller) data_version: i32,
}

/// Reads the file; `None` if the node never was in a quorum.
pub(in crate::controller) fn read(place: &Place) -> Result<Option<QuorumState>, ControllerError> {
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
    let node = |name| number(&text, name).filter(|node| *node >= 0);
    let state = QuorumState {
        epoch,
        leader: node("leaderId"),
        voted: node("votedId"),
        voted_directory: string(&text, "votedDirectoryId").and_then(Uuid::parse).unwrap_or(Uuid::ZERO),
        data_version,
    };
    match data_version {
        0 | 1 => Ok(Some(state)),
        _ => Err(corrupt("its data_version is of the future")),
    }
}

/// Replaces the file; what it says is durable when this returns. Blocks.
pub(in crate::controller) fn write(place: &Place, state: QuorumState) -> Result<(), ControllerError> {
    let path = place.dir.join(NAME);
    let (leader, voted, epoch) = (state.leader.unwrap_or(-1), state.voted.unwrap_or(-1), state.epoch);
    let text = if state.data_version == 0 {
        let voters = state.leader.map_or_else(String::new, |node| format!(r#"{{"voterId":{node}}}"#));
        format!(
            r#"{{"clusterId":"","leaderId":{leader},"leaderEpoch":{epoch},"votedId":{voted},"appliedOffset":0,"currentVoters":[{voters}],"data_version":0}}"#
        )
    } else {
        let directory = state.voted_directory;
        format!(
            r#"{{"leaderId":{leader},"leaderEpoch":{epoch},"votedId":{voted},"votedDirectoryId":"{directory}","data_version":1}}"#
        )
    };
    place.disk.replace(&path, text.as_bytes()).map_err(ControllerError::io("write", &path))
}

/// The string after a name.
fn string<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let (_, after) = json.split_once(&format!("\"{name}\""))?;
    let value = after.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    value.split_once('"').map(|(value, _)| value)
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
        let state = QuorumState { epoch: 7, leader: Some(3), ..QuorumState::default() };
        write(&place, state).unwrap();
        assert_eq!(read(&place).unwrap(), Some(state));
        let text = String::from_utf8(place.disk.read(&place.dir.join(NAME)).unwrap()).unwrap();
        let expected = r#"{"clusterId":"","leaderId":3,"leaderEpoch":7,"votedId":-1,"appliedOffset":0,"currentVoters":[{"voterId":3}],"data_version":0}"#;
        assert_eq!(text, expected);
    }

    #[test]
    fn a_vote_is_kept() {
        let place = Place { disk: MemoryDisk::new(Clock::simulated(0)).shared(), dir: "/m".into() };
        place.disk.create_dir(&place.dir).unwrap();
        let voted_directory = Uuid([7; 16]);
        let state = QuorumState { epoch: 9, leader: None, voted: Some(2), voted_directory, data_version: 1 };
        write(&place, state).unwrap();
        assert_eq!(read(&place).unwrap(), Some(state));
    }

    #[test]
    fn nonsense_is_refused() {
        let place = Place { disk: MemoryDisk::new(Clock::simulated(0)).shared(), dir: "/m".into() };
        place.disk.create_dir(&place.dir).unwrap();
        place.disk.replace(&place.dir.join(NAME), b"{}").unwrap();
        assert!(matches!(read(&place), Err(ControllerError::Corrupt { .. })));
    }
}
