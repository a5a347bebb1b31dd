//! What the producers were promised.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::load::PARTITIONS;

/// A record that was sent: who sent it, with which key, and the how manieth of that key it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sent {
    pub producer: usize,
    pub key: usize,
    pub number: u64,
}

impl Sent {
    pub fn key(self) -> String {
        format!("{}/{}", self.producer, self.key)
    }

    pub fn value(self) -> String {
        format!("{}/{}/{}", self.producer, self.key, self.number)
    }

    pub fn of(value: &[u8]) -> Sent {
        let text = std::str::from_utf8(value).unwrap();
        let mut parts = text.split('/').map(|part| part.parse::<u64>().unwrap());
        let mut next = || parts.next().unwrap();
        let (producer, key) = (usize::try_from(next()).unwrap(), usize::try_from(next()).unwrap());
        Sent { producer, key, number: next() }
    }
}

/// The longest times without an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct Pause {
    /// In the partition that had to wait longest.
    pub partition: Duration,
    /// Anywhere.
    pub all: Duration,
}

/// See the module.
pub struct Ledger {
    acknowledged: Mutex<BTreeMap<Sent, (i32, i64)>>,
    failures: Mutex<Vec<String>>,
    progress: Mutex<Progress>,
}

struct Progress {
    last: Vec<Instant>,
    longest: Pause,
}

impl Progress {
    /// Takes note that time has passed everywhere up to now; a partition that was acknowledged starts anew.
    fn pass(&mut self, acknowledged: Option<usize>) {
        let now = Instant::now();
        if let Some(latest) = self.last.iter().max() {
            self.longest.all = self.longest.all.max(now - *latest);
        }
        for (index, last) in self.last.iter_mut().enumerate() {
            if acknowledged.is_none_or(|partition| partition == index) {
                self.longest.partition = self.longest.partition.max(now - *last);
            }
            if acknowledged == Some(index) {
                *last = now;
            }
        }
    }
}

impl Ledger {
    pub fn new() -> Ledger {
        let longest = Pause { partition: Duration::ZERO, all: Duration::ZERO };
        let partitions = usize::try_from(PARTITIONS).unwrap();
        let progress = Progress { last: vec![Instant::now(); partitions], longest };
        Ledger { acknowledged: Mutex::default(), failures: Mutex::default(), progress: Mutex::new(progress) }
    }

    pub fn acknowledge(&self, sent: Sent, partition: i32, offset: i64) {
        self.progress.lock().unwrap().pass(usize::try_from(partition).ok());
        let before = self.acknowledged.lock().unwrap().insert(sent, (partition, offset));
        assert_eq!(before, None, "{sent:?} is acknowledged twice");
    }

    pub fn fail(&self, what: String) {
        self.failures.lock().unwrap().push(what);
    }

    pub fn failures(&self) -> Vec<String> {
        self.failures.lock().unwrap().clone()
    }

    /// Since the last call.
    pub fn longest_pause(&self) -> Pause {
        let mut progress = self.progress.lock().unwrap();
        progress.pass(None);
        let none = Pause { partition: Duration::ZERO, all: Duration::ZERO };
        std::mem::replace(&mut progress.longest, none)
    }

    /// Every acknowledged record is where its producer was told, each is there once, and each key in order. Whatever is
    /// not acknowledged at the end was refused, and there must be nothing of it.
    pub fn check(&self, found: &BTreeMap<(i32, i64), Sent>) {
        let acknowledged = self.acknowledged.lock().unwrap();
        let mut next: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        let mut places = BTreeMap::new();
        for (place, sent) in found {
            let expected = next.entry((sent.producer, sent.key)).or_default();
            assert_eq!(sent.number, *expected, "the order of {} at {place:?}", sent.key());
            *expected += 1;
            places.insert(*sent, *place);
        }
        for (sent, (partition, offset)) in &*acknowledged {
            let Some(place) = places.get(sent) else {
                panic!("{sent:?}, acknowledged at {partition}-{offset}, is lost")
            };
            // A client that was told "a duplicate" does not always learn where the first one is.
            assert!(
                *offset < 0 || *place == (*partition, *offset),
                "{sent:?} is at {place:?}, not {partition}-{offset}"
            );
        }
        assert_eq!(found.len(), acknowledged.len(), "records that nobody was promised");
    }

    pub fn len(&self) -> usize {
        self.acknowledged.lock().unwrap().len()
    }
}
