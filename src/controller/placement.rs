//! Where the replicas of new partitions go.
//!
//! Leaders rotate over the brokers that are alive; the further replicas of a partition take the brokers of the
//! other racks first. The start of the rotation is drawn at random by the caller, so that small topics do not all
//! begin on the same broker.

use std::collections::BTreeMap;

/// A broker that may get replicas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its node id.
    pub id: i32,
    /// `broker.rack`.
    pub rack: Option<String>,
    /// Not alive now: may follow, must not lead.
    pub fenced: bool,
}

/// Why no placement exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlacementError {
    /// No broker is registered, or all are fenced.
    NobodyAlive,
    /// Fewer brokers than replicas.
    TooFewBrokers {
        /// How many there are.
        brokers: usize,
    },
}

/// Replicas for `partitions` new partitions, the preferred leader of each first.
pub fn place(
    candidates: &[Candidate],
    partitions: usize,
    factor: usize,
    start: usize,
) -> Result<Vec<Vec<i32>>, PlacementError> {
    if !candidates.iter().any(|broker| !broker.fenced) {
        return Err(PlacementError::NobodyAlive);
    }
    if factor > candidates.len() {
        return Err(PlacementError::TooFewBrokers { brokers: candidates.len() });
    }
    let leaders = striped(candidates.iter().filter(|broker| !broker.fenced));
    let followers: Vec<&Candidate> =
        leaders.iter().copied().chain(striped(candidates.iter().filter(|broker| broker.fenced))).collect();
    Ok((0..partitions).map(|at| replicas(&leaders, &followers, factor, start.wrapping_add(at))).collect())
}

/// Brokers in the order rack by rack, so that neighbours are in different racks while that is possible.
fn striped<'a>(brokers: impl Iterator<Item = &'a Candidate>) -> Vec<&'a Candidate> {
    let mut racks: BTreeMap<&Option<String>, Vec<&Candidate>> = BTreeMap::new();
    for broker in brokers {
        racks.entry(&broker.rack).or_default().push(broker);
    }
    let tallest = racks.values().map(Vec::len).max().unwrap_or_default();
    (0..tallest).flat_map(|row| racks.values().filter_map(move |rack| rack.get(row).copied())).collect()
}

/// The replicas of one partition: a leader by rotation, then who is next and in a rack that has no replica yet,
/// then who is next.
fn replicas(leaders: &[&Candidate], everybody: &[&Candidate], factor: usize, turn: usize) -> Vec<i32> {
    let Some(leader) = turn.checked_rem(leaders.len()).and_then(|at| leaders.get(at)) else {
        return Vec::new();
    };
    let mut chosen = vec![*leader];
    // After each full round of leaders the followers shift by one, so that one broker's load spreads when it dies.
    let shift = turn.checked_div(leaders.len()).unwrap_or_default();
    let after = turn.wrapping_add(1).wrapping_add(shift);
    for need_new_rack in [true, false] {
        for step in 0..everybody.len() {
            let at = after.wrapping_add(step).checked_rem(everybody.len()).unwrap_or_default();
            let Some(next) = everybody.get(at) else { continue };
            let known = chosen.iter().any(|broker| broker.id == next.id);
            let same_rack = need_new_rack && chosen.iter().any(|broker| broker.rack == next.rack);
            if chosen.len() < factor && !known && !same_rack {
                chosen.push(next);
            }
        }
    }
    chosen.iter().map(|broker| broker.id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broker(id: i32, rack: Option<&str>) -> Candidate {
        Candidate { id, rack: rack.map(str::to_owned), fenced: false }
    }

    #[test]
    fn leaders_are_spread_evenly_and_no_broker_holds_a_partition_twice() {
        let brokers: Vec<Candidate> = (1..=5).map(|id| broker(id, None)).collect();
        let placed = place(&brokers, 20, 3, 7).unwrap();
        let mut led = BTreeMap::new();
        for replicas in &placed {
            *led.entry(replicas[0]).or_insert(0) += 1;
            let mut unique = replicas.clone();
            unique.sort_unstable();
            unique.dedup();
            assert_eq!(unique.len(), 3);
        }
        assert_eq!(led, (1..=5).map(|id| (id, 4)).collect());
    }

    #[test]
    fn replicas_are_in_as_many_racks_as_there_are() {
        let brokers: Vec<Candidate> =
            (0..6).map(|id| broker(id, Some(["a", "b", "c"][usize::try_from(id).unwrap() % 3]))).collect();
        for replicas in place(&brokers, 12, 3, 0).unwrap() {
            let mut racks: Vec<i32> = replicas.iter().map(|id| id % 3).collect();
            racks.sort_unstable();
            assert_eq!(racks, [0, 1, 2]);
        }
    }

    #[test]
    fn a_fenced_broker_follows_but_does_not_lead() {
        let mut brokers = vec![broker(1, None), broker(2, None)];
        brokers[1].fenced = true;
        assert_eq!(place(&brokers, 2, 2, 1).unwrap(), [[1, 2], [1, 2]]);
        brokers[0].fenced = true;
        assert_eq!(place(&brokers, 2, 2, 1), Err(PlacementError::NobodyAlive));
    }

    #[test]
    fn one_broker_holds_one_replica() {
        let brokers = [broker(1, None)];
        assert_eq!(place(&brokers, 2, 1, 9).unwrap(), [[1], [1]]);
        assert_eq!(place(&brokers, 1, 3, 0), Err(PlacementError::TooFewBrokers { brokers: 1 }));
    }
}
