//! Who reaches whom, and how well.

use std::collections::{BTreeMap, BTreeSet};

use barnabas::rng::Rng;
use parking_lot::Mutex;

/// See the module.
pub struct Links {
    rng: Rng,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// From, to: requests and answers of this direction are lost.
    cut: BTreeSet<(i32, i32)>,
    no_controller: BTreeSet<i32>,
    /// What a broker sends and gets takes up to so many ms.
    slow: BTreeMap<i32, u64>,
    /// Of what a broker sends and gets, so much in a hundred is lost.
    flaky: BTreeMap<i32, u64>,
    /// Nothing that these send or get arrives before they go on.
    paused: BTreeSet<i32>,
}

impl Links {
    pub fn new(rng: Rng) -> Links {
        Links { rng, state: Mutex::default() }
    }

    pub fn cut(&self, from: i32, to: i32) {
        self.state.lock().cut.insert((from, to));
    }

    pub fn cut_off(&self, id: i32, all: &[i32]) {
        for other in all {
            self.cut(id, *other);
            self.cut(*other, id);
        }
    }

    pub fn cut_controller(&self, id: i32) {
        self.state.lock().no_controller.insert(id);
    }

    pub fn slow(&self, id: i32, ms: u64) {
        self.state.lock().slow.insert(id, ms);
    }

    pub fn flaky(&self, id: i32, percent: u64) {
        self.state.lock().flaky.insert(id, percent);
    }

    pub fn pause(&self, id: i32) {
        self.state.lock().paused.insert(id);
    }

    pub fn go_on(&self) {
        self.state.lock().paused.clear();
    }

    pub fn heal(&self) {
        *self.state.lock() = State::default();
    }

    pub fn reaches_controller(&self, id: i32) -> bool {
        let state = self.state.lock();
        !state.no_controller.contains(&id) && !state.paused.contains(&id)
    }

    pub fn is_paused(&self, id: i32) -> bool {
        self.state.lock().paused.contains(&id)
    }

    /// Does what is sent now arrive?
    pub fn passes(&self, from: i32, to: i32) -> bool {
        let state = self.state.lock();
        let lost = [from, to].iter().filter_map(|id| state.flaky.get(id)).max().copied().unwrap_or(0);
        from == to || !(state.cut.contains(&(from, to)) || (lost > 0 && self.rng.below(100) < lost))
    }

    /// How long what is sent now takes.
    pub fn delay_ms(&self, from: i32, to: i32) -> u64 {
        let state = self.state.lock();
        let most: u64 = [from, to].iter().filter_map(|id| state.slow.get(id)).sum();
        self.rng.below(most + 1)
    }
}
