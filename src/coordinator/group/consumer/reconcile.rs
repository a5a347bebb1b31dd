//! A member's way to its target: give up first, then take what is free.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::ids::Uuid;

use super::state::{Current, MemberState, Owned, Partitions};

/// What a step towards the target depends on.
pub struct Reconciliation<'a> {
    /// The epoch of the targets.
    pub target_epoch: i32,
    /// What the member is to have.
    pub target: &'a Partitions,
    /// Topics the member reads.
    pub subscribed: &'a BTreeSet<Uuid>,
    /// The member has just changed what it reads.
    pub subscription_changed: bool,
    /// What the member says it still holds; none if it does not say.
    pub owned: Option<&'a [(Uuid, Vec<i32>)]>,
    /// The partition has an owner.
    pub is_taken: &'a dyn Fn(Uuid, i32) -> bool,
}

impl Reconciliation<'_> {
    /// The member's next state; the present one if nothing changes.
    pub fn next(&self, current: &Current) -> Current {
        match current.state {
            MemberState::Stable if current.epoch != self.target_epoch => self.compute(current, current.epoch),
            MemberState::Stable => self.keep_subscribed(current),
            // It has not said yet that it gave up what it must.
            MemberState::Unrevoked if self.still_owns(&current.revoking) => self.keep_subscribed(current),
            MemberState::Unrevoked => self.compute(current, current.epoch.saturating_add(1)),
            MemberState::Unreleased => self.compute(current, current.epoch),
            MemberState::Unknown => self.compute(current, self.target_epoch),
        }
    }

    fn still_owns(&self, partitions: &Owned) -> bool {
        let Some(owned) = self.owned else { return true };
        owned.iter().any(|(topic, owned)| {
            partitions.get(topic).is_some_and(|of| owned.iter().any(|partition| of.contains_key(partition)))
        })
    }

    /// Topics that the member has just unsubscribed from are taken from it at once.
    fn keep_subscribed(&self, current: &Current) -> Current {
        if !self.subscription_changed {
            return current.clone();
        }
        let keeps = |topic: &Uuid| self.subscribed.contains(topic);
        if current.assigned.keys().all(keeps) {
            return current.clone();
        }
        let (mut assigned, mut revoking) = (Owned::new(), (*current.revoking).clone());
        for (topic, partitions) in &*current.assigned {
            let to = if keeps(topic) { &mut assigned } else { &mut revoking };
            to.entry(*topic).or_default().extend(partitions);
        }
        let assigned = Arc::new(assigned);
        if self.still_owns(&revoking) {
            let revoking = Arc::new(revoking);
            return Current { state: MemberState::Unrevoked, assigned, revoking, ..*current };
        }
        Current { assigned, revoking: current.revoking.clone(), ..*current }
    }

    fn compute(&self, current: &Current, epoch: i32) -> Current {
        let (mut assigned, mut revoking) = (Owned::new(), Owned::new());
        let target = |topic: &Uuid| self.target.get(topic).filter(|_| self.subscribed.contains(topic));
        for (topic, partitions) in &*current.assigned {
            for (partition, since) in partitions {
                let keeps = target(topic).is_some_and(|target| target.contains(partition));
                let to = if keeps { &mut assigned } else { &mut revoking };
                to.entry(*topic).or_default().insert(*partition, *since);
            }
        }
        let at = |epoch| Current {
            epoch,
            previous_epoch: current.epoch,
            state: MemberState::Stable,
            assigned: Arc::default(),
            revoking: Arc::default(),
        };
        if !revoking.is_empty() && self.still_owns(&revoking) {
            let (assigned, revoking) = (Arc::new(assigned), Arc::new(revoking));
            return Current { state: MemberState::Unrevoked, assigned, revoking, ..at(epoch) };
        }
        let mut unreleased = false;
        for topic in self.target.keys() {
            for partition in target(topic).into_iter().flatten() {
                if current.assigned.get(topic).is_some_and(|has| has.contains_key(partition)) {
                    continue;
                }
                if (self.is_taken)(*topic, *partition) {
                    unreleased = true;
                } else {
                    assigned.entry(*topic).or_default().insert(*partition, self.target_epoch);
                }
            }
        }
        let state = if unreleased { MemberState::Unreleased } else { MemberState::Stable };
        Current { state, assigned: Arc::new(assigned), ..at(self.target_epoch) }
    }
}
