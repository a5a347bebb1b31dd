//! Everybody gets the same number of partitions, or as near to it as subscriptions allow, and keeps what it has as
//! far as that goes.

use std::collections::{BTreeMap, BTreeSet};

use crate::coordinator::group::consumer::state::Partitions;
use crate::coordinator::group::java_hash::sort_like_hash_map;
use crate::ids::Uuid;

use super::Subscriber;

/// Rounds of moving partitions between members that read different topics; two or three suffice.
const ROUNDS: usize = 16;

/// See the module.
pub(super) fn assign(subscribers: &[Subscriber<'_>], sizes: &BTreeMap<Uuid, i32>) -> Vec<Partitions> {
    let Some(first) = subscribers.first() else { return Vec::new() };
    if subscribers.iter().all(|subscriber| subscriber.topics == first.topics) {
        alike(subscribers, sizes)
    } else {
        Mixed::new(subscribers, sizes).assign()
    }
}

fn all_partitions(sizes: &BTreeMap<Uuid, i32>) -> impl Iterator<Item = (Uuid, i32)> {
    sizes.iter().flat_map(|(topic, size)| (0..*size).map(|partition| (*topic, partition)))
}

fn exists(sizes: &BTreeMap<Uuid, i32>, topic: Uuid, partition: i32) -> bool {
    sizes.get(&topic).is_some_and(|size| (0..*size).contains(&partition))
}

/// Everybody reads the same topics.
fn alike(subscribers: &[Subscriber<'_>], sizes: &BTreeMap<Uuid, i32>) -> Vec<Partitions> {
    let mut order: Vec<(usize, &str)> = subscribers.iter().map(|s| s.id).enumerate().collect();
    sort_like_hash_map(&mut order, |(_, id)| id);
    let total: usize = sizes.values().filter_map(|size| usize::try_from(*size).ok()).sum();
    let each = total / subscribers.len();
    let mut extra = total % subscribers.len();
    let mut shares = vec![Partitions::new(); subscribers.len()];
    let mut taken: BTreeMap<Uuid, BTreeSet<i32>> = BTreeMap::new();
    let mut unfilled = Vec::new();
    let mut given_up = Vec::new();
    for (at, _) in order {
        let (Some(subscriber), Some(share)) = (subscribers.get(at), shares.get_mut(at)) else { continue };
        let mut quota = each + usize::from(extra > 0);
        for (topic, partitions) in &**subscriber.has {
            for partition in partitions.iter().filter(|p| exists(sizes, *topic, **p)) {
                if !taken.entry(*topic).or_default().insert(*partition) {
                    continue;
                }
                if quota > 0 {
                    quota -= 1;
                    share.entry(*topic).or_default().insert(*partition);
                } else {
                    given_up.push((*topic, *partition));
                }
            }
        }
        if extra > 0 && quota == 0 {
            extra -= 1;
        } else {
            let has_extra = usize::from(extra > 0);
            unfilled.push((at, quota - has_extra));
        }
    }
    let is_free =
        |(topic, partition): &(Uuid, i32)| !taken.get(topic).is_some_and(|of| of.contains(partition));
    let mut free = all_partitions(sizes).filter(is_free).collect::<Vec<_>>().into_iter().chain(given_up);
    for (at, quota) in unfilled {
        let quota = quota + usize::from(extra > 0);
        extra = extra.saturating_sub(1);
        let Some(share) = shares.get_mut(at) else { continue };
        for (topic, partition) in free.by_ref().take(quota) {
            share.entry(topic).or_default().insert(partition);
        }
    }
    shares
}

/// Members read different topics.
struct Mixed {
    /// By topic: who reads it.
    readers: BTreeMap<Uuid, Vec<usize>>,
    shares: Vec<Partitions>,
    /// How many partitions each has.
    loads: Vec<usize>,
    free: BTreeMap<Uuid, Vec<i32>>,
}

impl Mixed {
    /// Everybody keeps what it has and still reads.
    fn new(subscribers: &[Subscriber<'_>], sizes: &BTreeMap<Uuid, i32>) -> Mixed {
        let mut readers: BTreeMap<Uuid, Vec<usize>> = BTreeMap::new();
        let mut taken: BTreeSet<(Uuid, i32)> = BTreeSet::new();
        let (mut shares, mut loads) = (Vec::new(), Vec::new());
        for (at, subscriber) in subscribers.iter().enumerate() {
            for topic in &*subscriber.topics {
                readers.entry(*topic).or_default().push(at);
            }
            let (mut share, mut load) = (Partitions::new(), 0);
            for (topic, partitions) in subscriber.has.iter().filter(|(t, _)| subscriber.topics.contains(t)) {
                for partition in partitions.iter().filter(|p| exists(sizes, *topic, **p)) {
                    if taken.insert((*topic, *partition)) {
                        share.entry(*topic).or_default().insert(*partition);
                        load += 1;
                    }
                }
            }
            shares.push(share);
            loads.push(load);
        }
        let mut free: BTreeMap<Uuid, Vec<i32>> = BTreeMap::new();
        for (topic, partition) in all_partitions(sizes).filter(|at| !taken.contains(at)) {
            free.entry(topic).or_default().push(partition);
        }
        Mixed { readers, shares, loads, free }
    }

    fn load(&self, at: usize) -> usize {
        self.loads.get(at).copied().unwrap_or_default()
    }

    fn assign(mut self) -> Vec<Partitions> {
        // Topics that few can read come first.
        let mut topics: Vec<Uuid> = self.readers.keys().copied().collect();
        topics.sort_by_key(|topic| (self.readers.get(topic).map_or(0, Vec::len), *topic));
        for topic in &topics {
            let mut by_load = self.by_load(*topic);
            for partition in self.free.remove(topic).unwrap_or_default() {
                let Some((load, at)) = by_load.pop_first() else { break };
                self.give(at, *topic, partition);
                by_load.insert((load + 1, at));
            }
        }
        for _ in 0..ROUNDS {
            let moved = topics.iter().map(|topic| self.balance(*topic)).sum::<usize>();
            if moved == 0 {
                break;
            }
        }
        self.shares
    }

    fn by_load(&self, topic: Uuid) -> BTreeSet<(usize, usize)> {
        let readers = self.readers.get(&topic).into_iter().flatten();
        readers.map(|at| (self.load(*at), *at)).collect()
    }

    fn give(&mut self, at: usize, topic: Uuid, partition: i32) {
        if let (Some(share), Some(load)) = (self.shares.get_mut(at), self.loads.get_mut(at)) {
            share.entry(topic).or_default().insert(partition);
            *load += 1;
        }
    }

    /// The last partition of a topic that a member has.
    fn take(&mut self, at: usize, topic: Uuid) -> Option<i32> {
        let share = self.shares.get_mut(at)?;
        let partitions = share.get_mut(&topic)?;
        let partition = partitions.pop_last();
        if partitions.is_empty() {
            share.remove(&topic);
        }
        if let (Some(_), Some(load)) = (partition, self.loads.get_mut(at)) {
            *load -= 1;
        }
        partition
    }

    /// Moves partitions of a topic from those with the most to those with the least; returns how many.
    fn balance(&mut self, topic: Uuid) -> usize {
        let mut by_load = self.by_load(topic);
        let has =
            |shares: &[Partitions], at: usize| shares.get(at).is_some_and(|share| share.contains_key(&topic));
        let mut holders: BTreeSet<(usize, usize)> =
            by_load.iter().copied().filter(|(_, at)| has(&self.shares, *at)).collect();
        let mut moved = 0;
        while let (Some((most, from)), Some((least, to))) =
            (holders.last().copied(), by_load.first().copied())
        {
            if most <= least + 1 {
                break;
            }
            let Some(partition) = self.take(from, topic) else { break };
            self.give(to, topic, partition);
            holders.remove(&(most, from));
            by_load.remove(&(most, from));
            by_load.remove(&(least, to));
            holders.remove(&(least, to));
            by_load.insert((most - 1, from));
            by_load.insert((least + 1, to));
            holders.insert((least + 1, to));
            if has(&self.shares, from) {
                holders.insert((most - 1, from));
            }
            moved += 1;
        }
        moved
    }
}
