//! Who of the brokers was heard of lately. Known to the active controller only, and lost with it: whoever leads next
//! begins with everybody just heard of.

use std::collections::BTreeMap;

use super::super::image::Image;

/// See the module. Times are monotonic, in ms.
#[derive(Clone, Debug)]
pub struct Sessions {
    timeout_ms: u64,
    /// `broker.disconnect.grace.ms`.
    grace_ms: Option<u64>,
    /// This broker lives in the process of the only controller: nobody is left to miss it.
    exempt: Option<i32>,
    heard: BTreeMap<i32, Heard>,
}

#[derive(Clone, Copy, Debug)]
struct Heard {
    /// Which registration.
    epoch: i64,
    /// When its session is over.
    until_ms: u64,
    /// How far it had the metadata.
    metadata_offset: i64,
    /// The offset from which everybody knows that it leads nothing.
    shutdown_offset: Option<i64>,
}

impl Sessions {
    /// The sessions of a controller that begins to lead now.
    pub fn begin(
        image: &Image,
        timeout_ms: u64,
        grace_ms: Option<u64>,
        exempt: Option<i32>,
        now_ms: u64,
    ) -> Sessions {
        let mut sessions = Sessions { timeout_ms, grace_ms, exempt, heard: BTreeMap::new() };
        for broker in image.brokers().filter(|broker| !broker.fenced) {
            sessions.touch(broker.id, broker.epoch, -1, now_ms);
        }
        sessions
    }

    /// A broker was heard of.
    pub fn touch(&mut self, broker: i32, epoch: i64, metadata_offset: i64, now_ms: u64) {
        let until_ms = now_ms.saturating_add(self.timeout_ms);
        let known = self.heard.get(&broker).filter(|heard| heard.epoch == epoch);
        let shutdown_offset = known.and_then(|heard| heard.shutdown_offset);
        let heard = Heard { epoch, until_ms, metadata_offset, shutdown_offset };
        self.heard.insert(broker, heard);
    }

    /// Nothing more is expected of a broker.
    pub fn forget(&mut self, broker: i32) {
        self.heard.remove(&broker);
    }

    /// Was this registration of a broker heard of lately?
    pub fn is_valid(&self, broker: i32, epoch: i64, now_ms: u64) -> bool {
        self.exempt == Some(broker)
            || self.heard.get(&broker).is_some_and(|heard| heard.epoch == epoch && heard.until_ms > now_ms)
    }

    /// The connection of a broker ended: it has the grace to be heard of again.
    pub fn hung_up(&mut self, broker: i32, epoch: i64, now_ms: u64) {
        let Some(grace_ms) = self.grace_ms else { return };
        let until_ms = now_ms.saturating_add(grace_ms);
        if let Some(heard) = self.heard.get_mut(&broker).filter(|heard| heard.epoch == epoch) {
            heard.until_ms = heard.until_ms.min(until_ms);
        }
    }

    /// A sign that the process of a broker is gone: nobody listens where its node should, or another process has its
    /// directories. One that has not been heard of since this controller leads has the grace from now on. True if that is
    /// sooner than it had. Of one that was heard of, its own connection tells.
    pub fn seems_gone(&mut self, broker: i32, now_ms: u64) -> bool {
        let Some(grace_ms) = self.grace_ms else { return false };
        let until_ms = now_ms.saturating_add(grace_ms);
        let assumed = self.heard.get_mut(&broker).filter(|heard| heard.metadata_offset < 0);
        assumed.is_some_and(|heard| {
            let sooner = until_ms < heard.until_ms;
            heard.until_ms = heard.until_ms.min(until_ms);
            sooner
        })
    }

    /// When the next session ends of a broker that is not fenced.
    pub fn next_end(&self, image: &Image) -> Option<u64> {
        self.unfenced(image).map(|(_, heard)| heard.until_ms).min()
    }

    /// Brokers that were not heard of for too long and are not fenced yet.
    pub fn over(&self, image: &Image, now_ms: u64) -> Vec<i32> {
        let over = self.unfenced(image).filter(|(_, heard)| heard.until_ms <= now_ms);
        over.map(|(id, _)| id).collect()
    }

    fn unfenced<'a>(&'a self, image: &'a Image) -> impl Iterator<Item = (i32, &'a Heard)> {
        let unfenced = |id: &i32| image.broker(*id).is_some_and(|broker| !broker.fenced);
        let heard = self.heard.iter().filter(move |(id, _)| self.exempt != Some(**id) && unfenced(id));
        heard.map(|(id, heard)| (*id, heard))
    }

    /// A broker in controlled shutdown may go once everybody has the metadata up to an offset.
    pub fn wait_for(&mut self, broker: i32, offset: i64) {
        if let Some(heard) = self.heard.get_mut(&broker) {
            heard.shutdown_offset = Some(offset);
        }
    }

    /// Does every active broker know that this one leads nothing any more?
    pub fn may_go(&self, image: &Image, broker: i32) -> bool {
        let Some(offset) = self.heard.get(&broker).and_then(|heard| heard.shutdown_offset) else {
            return true;
        };
        let active = |id: &i32| image.broker(*id).is_some_and(|broker| broker.is_active());
        let others = self.heard.iter().filter(|(id, _)| self.exempt != Some(**id) && active(id));
        others.map(|(_, heard)| heard.metadata_offset).all(|known| known >= offset)
    }
}
