//! Who leads a partition.

use super::image::{NO_LEADER, PartitionImage};

/// Which rules an election follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Election {
    /// Keep the leader that is there, or take the next in sync.
    Any,
    /// The first replica or nothing.
    Preferred,
    /// If nobody is in sync, anybody alive: what only the old leader had is lost.
    Unclean,
}

/// The outcome of an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elected {
    /// The leader, or [`NO_LEADER`].
    pub leader: i32,
    /// It was not known to have everything that was committed.
    pub unclean: bool,
}

/// Elects among the replicas that `alive` says may lead, in their order.
pub fn elect(partition: &PartitionImage, alive: impl Fn(i32) -> bool, election: Election) -> Elected {
    let in_sync = |id: i32| partition.isr.contains(&id) || partition.elr.contains(&id);
    let may_lead = |id: i32| in_sync(id) && alive(id);
    let clean = |leader| Elected { leader, unclean: false };
    let preferred = partition.replicas.first().copied().filter(|id| may_lead(*id));
    let current = Some(partition.leader).filter(|id| may_lead(*id));
    let (first, second) = match election {
        Election::Preferred => (preferred, current),
        Election::Any | Election::Unclean => (current, preferred),
    };
    let next = || partition.replicas.iter().copied().find(|id| may_lead(*id));
    if let Some(leader) = first.or(second).or_else(next) {
        return clean(leader);
    }
    match partition.replicas.iter().copied().find(|id| alive(*id)) {
        Some(leader) if election == Election::Unclean => Elected { leader, unclean: true },
        // KIP-966: when ISR and ELR are empty, the last leader known still has everything.
        Some(_) if partition.elr.is_empty() => match partition.last_known_elr.as_slice() {
            [leader] if partition.isr.is_empty() && alive(*leader) => {
                Elected { leader: *leader, unclean: true }
            }
            _ => clean(NO_LEADER),
        },
        _ => clean(NO_LEADER),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partition(leader: i32, isr: &[i32], elr: &[i32]) -> PartitionImage {
        PartitionImage {
            index: 0,
            leader,
            leader_epoch: 0,
            partition_epoch: 0,
            recovering: false,
            replicas: vec![1, 2, 3],
            isr: isr.to_vec(),
            elr: elr.to_vec(),
            last_known_elr: Vec::new(),
            adding: Vec::new(),
            removing: Vec::new(),
            directories: Vec::new(),
        }
    }

    #[test]
    fn the_leader_stays_unless_the_preferred_one_is_asked_for() {
        let led_by_two = partition(2, &[1, 2], &[]);
        assert_eq!(elect(&led_by_two, |_| true, Election::Any).leader, 2);
        assert_eq!(elect(&led_by_two, |_| true, Election::Preferred).leader, 1);
        assert_eq!(elect(&led_by_two, |id| id != 1, Election::Preferred).leader, 2);
        assert_eq!(elect(&led_by_two, |id| id != 2, Election::Any).leader, 1);
    }

    #[test]
    fn only_an_unclean_election_takes_a_replica_that_may_miss_something() {
        let lost = partition(2, &[2], &[]);
        assert_eq!(elect(&lost, |id| id == 3, Election::Any), Elected { leader: NO_LEADER, unclean: false });
        assert_eq!(elect(&lost, |id| id == 3, Election::Unclean), Elected { leader: 3, unclean: true });
        assert_eq!(elect(&lost, |_| false, Election::Unclean).leader, NO_LEADER);
    }

    #[test]
    fn an_eligible_leader_is_as_good_as_one_in_sync() {
        let fenced = partition(NO_LEADER, &[], &[3]);
        assert_eq!(elect(&fenced, |id| id == 3, Election::Any), Elected { leader: 3, unclean: false });
    }
}
