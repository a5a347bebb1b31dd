//! Seeded stories: producers, zombies, timeouts, reloads, markers that fail, come late or twice.
//!
//! What must hold: an acknowledged outcome is never changed; epochs never go back; markers agree with the outcome; every
//! transaction comes to its end; and, as at the end of every story, replay equals what was lived.

use std::collections::BTreeMap;

use super::*;
use crate::seeds::each_seed;

const IDS: [&str; 3] = ["a", "b", "c"];

struct Seed(u64);

impl Seed {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// A client as it takes itself for.
#[derive(Clone, Copy)]
struct Client {
    id: &'static str,
    producer: Producer,
    version: i16,
}

struct World {
    tale: Tale,
    seed: Seed,
    clients: Vec<Client>,
    /// Effects that were not carried out yet, or will be once more.
    delayed: Vec<Effect>,
    /// The highest epoch seen of each producer id.
    epochs: BTreeMap<i64, i16>,
    /// Outcome of each transaction, by the epoch and the moment in which it was decided.
    decided: BTreeMap<&'static str, (State, u64)>,
    changes: u64,
}

impl World {
    fn new(seed: u64) -> World {
        World {
            tale: Tale::new(),
            seed: Seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            clients: Vec::new(),
            delayed: Vec::new(),
            epochs: BTreeMap::new(),
            decided: BTreeMap::new(),
            changes: 0,
        }
    }

    fn client(&mut self) -> Option<usize> {
        let count = u64::try_from(self.clients.len()).unwrap();
        (count > 0).then(|| usize::try_from(self.seed.below(count)).unwrap())
    }

    fn turn(&mut self) {
        match self.seed.below(20) {
            0..3 => self.init(),
            3..8 => self.add(),
            8..13 => self.end(),
            13..17 => self.mark(),
            17 => self.tale.story.sleep(20_000),
            18 => self.tale.story.sleep(500),
            _ => {
                // The markers that were on their way arrive all the same.
                self.tale.story.sleep(1);
                self.tale.story.reload();
            }
        }
        self.delayed.append(&mut self.tale.story.effects);
        self.check();
    }

    fn init(&mut self) {
        let id = IDS[usize::try_from(self.seed.below(3)).unwrap()];
        let version = if self.seed.below(2) == 0 { 0 } else { 2 };
        let mine = self.clients.iter().rfind(|client| client.id == id).map(|client| client.producer);
        let expected = mine.filter(|_| self.seed.below(3) == 0);
        if let Ok(producer) = self.tale.init_as(id, expected) {
            self.clients.push(Client { id, producer, version });
        }
    }

    fn add(&mut self) {
        let Some(at) = self.client() else { return };
        let Client { id, producer, version } = self.clients[at];
        let partition = i32::try_from(self.seed.below(4)).unwrap();
        let added = self.tale.add(id, producer, &[partition], version);
        let newest = self.tale.producer(id) == producer;
        assert!(added.is_err() || newest, "an old incarnation begins a transaction");
    }

    fn end(&mut self) {
        let Some(at) = self.client() else { return };
        let Client { id, producer, version } = self.clients[at];
        let commit = self.seed.below(2) == 0;
        let before = self.tale.state(id);
        let answer = self.tale.end(id, producer, commit, version);
        let Ok(next) = answer else { return };
        let outcome = match self.tale.state(id) {
            State::PrepareCommit | State::CompleteCommit => true,
            State::PrepareAbort | State::CompleteAbort => false,
            other => panic!("an end was acknowledged and leaves {other:?}"),
        };
        assert_eq!(outcome, commit, "{before:?}: acknowledged the other way");
        // One answer in four is lost: the client will ask again with what it knows.
        if self.seed.below(4) > 0 {
            self.clients[at].producer = next;
        }
    }

    /// A marker request arrives, is lost in part, or arrives and will arrive again.
    fn mark(&mut self) {
        if self.delayed.is_empty() {
            return;
        }
        let count = u64::try_from(self.delayed.len()).unwrap();
        let at = usize::try_from(self.seed.below(count)).unwrap();
        let repeat = self.seed.below(3) == 0;
        let effect = if repeat { self.delayed[at].clone() } else { self.delayed.remove(at) };
        let Effect::WriteMarkers { id, commit, partitions, attempt, .. } = effect;
        let (_, known) = self.tale.story.hard.get(&id).unwrap();
        let (before, expected) = (known.state, known.partitions.clone());
        let left = if self.seed.below(4) == 0 { partitions.clone() } else { Partitions::new() };
        self.tale.story.tell(Event::Marked { id: id.clone(), attempt, left });
        let after = self.tale.state(&id);
        if before.is_prepared() && !after.is_prepared() {
            assert_eq!(commit, after == State::CompleteCommit, "markers against the decision");
            assert!(partitions.keys().eq(expected.keys()), "all partitions get theirs");
        }
    }

    fn check(&mut self) {
        self.changes += 1;
        for id in IDS {
            let Some((_, known)) = self.tale.story.hard.get(id) else { continue };
            let highest = self.epochs.entry(known.producer_id).or_insert(known.epoch);
            assert!(known.epoch >= *highest, "{id}: epoch {} after {highest}", known.epoch);
            *highest = known.epoch;
            let decided = self.decided.get(id).map(|(state, _)| *state);
            match (decided, known.state) {
                (Some(State::PrepareCommit), State::PrepareAbort | State::CompleteAbort)
                | (Some(State::PrepareAbort), State::PrepareCommit | State::CompleteCommit) => {
                    panic!("{id}: decided {decided:?}, now {:?}", known.state)
                }
                (Some(State::PrepareCommit | State::PrepareAbort), State::Ongoing | State::Empty) => {
                    panic!("{id}: decided {decided:?} and never completed, now {:?}", known.state)
                }
                _ => {}
            }
            self.decided.insert(id, (known.state, self.changes));
        }
    }

    /// At last everything that was decided is carried out, and everything left open is aborted.
    fn end_all(&mut self) {
        self.tale.story.sleep(1);
        self.tale.story.reload();
        for _ in 0..4 {
            self.tale.story.sleep(u64::try_from(TIMEOUT_MS).unwrap());
            self.tale.write_markers();
            self.check();
        }
        for id in IDS {
            let state = self.tale.state(id);
            assert!(state == State::Dead || state.is_at_rest(), "{id} is stuck in {state:?}");
        }
    }
}

#[test]
fn whatever_happens_every_transaction_ends_once() {
    each_seed(300, |seed| {
        let mut world = World::new(seed);
        for _ in 0..300 {
            world.turn();
        }
        world.end_all();
    });
}
