//! Topic by topic, each member gets the next range of partitions: partitions with one number of topics of one size
//! meet at one member.

use std::collections::{BTreeMap, BTreeSet};

use crate::coordinator::group::consumer::state::Partitions;
use crate::ids::Uuid;

use super::Subscriber;

/// See the module. Static members come first, by their instance ids.
pub(super) fn assign(subscribers: &[Subscriber<'_>], sizes: &BTreeMap<Uuid, i32>) -> Vec<Partitions> {
    let mut order: Vec<usize> = (0..subscribers.len()).collect();
    order.sort_by_key(|at| {
        let subscriber = subscribers.get(*at);
        let instance = subscriber.and_then(|s| s.instance);
        (instance.is_none(), instance, subscriber.map(|s| s.id))
    });
    let mut readers: BTreeMap<Uuid, Vec<usize>> = BTreeMap::new();
    for at in order {
        for topic in subscribers.get(at).into_iter().flat_map(|subscriber| subscriber.topics.iter()) {
            readers.entry(*topic).or_default().push(at);
        }
    }
    let mut shares = vec![Partitions::new(); subscribers.len()];
    for (topic, readers) in readers {
        let size = sizes.get(&topic).copied().unwrap_or_default();
        let count = i32::try_from(readers.len()).unwrap_or(i32::MAX).max(1);
        let (each, mut extra) = (size / count, size % count);
        let mut next = 0_i32;
        for at in readers {
            let quota = each + i32::from(extra > 0);
            extra -= i32::from(extra > 0);
            let range: BTreeSet<i32> = (next..next.saturating_add(quota)).collect();
            next = next.saturating_add(quota);
            if let Some(share) = shares.get_mut(at).filter(|_| !range.is_empty()) {
                share.insert(topic, range);
            }
        }
    }
    shares
}
