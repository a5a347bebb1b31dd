//! Histories of consumer groups from a seed: members join, report, fall silent, repeat themselves and come back while
//! topics come, grow and go, timers fire and the coordinator moves. `BARNABAS_SEEDS=10000 cargo test --lib random` tells
//! more of them. What must hold: a partition has one reader at a time, epochs do not fall, living members are known,
//! a group that is left alone becomes stable with everything assigned once; and replay equals what was lived.

use std::collections::{BTreeMap, BTreeSet};

use super::consumers::{joining_beat, staying_beat};
use super::*;
use crate::coordinator::group::consumer::Refused;
use crate::coordinator::group::event::Beat;
use crate::coordinator::group::response::Beaten;
use crate::rng::Rng;
use crate::seeds::each_seed;

type Held = BTreeSet<(Uuid, i32)>;

/// A client as it sees itself.
#[derive(Clone, Debug, Default)]
struct Client {
    id: String,
    instance: Option<String>,
    epoch: i32,
    /// What it reads. A client stops reading before it says so.
    held: Held,
    /// What it has been told to read.
    told: Held,
    topics: Vec<String>,
    regex: Option<String>,
    /// An answer was lost: it says everything again.
    says_all: bool,
    /// Since when it has been told to change what it reads, or may have been.
    changes_ms: Option<u64>,
    /// When it last heard that all is well.
    heard_ms: u64,
}

struct World {
    tale: Tale,
    rng: Rng,
    clients: Vec<Client>,
    names: u64,
    epoch: i32,
    delayed: Vec<Beat>,
}

impl World {
    fn new(seed: u64) -> World {
        let rng = Rng::from_seed(seed);
        let clients = (0..5)
            .map(|n: u32| Client { instance: (n == 0).then(|| "fixed".to_owned()), ..Client::default() });
        let tale = Tale::with_topics(&[("t", 3), ("u", 2)]);
        World { tale, rng, clients: clients.collect(), names: 0, epoch: 0, delayed: Vec::new() }
    }

    fn roll(&self, sides: u64) -> u64 {
        self.rng.below(sides)
    }

    fn now_ms(&self) -> u64 {
        self.tale.story.now.mono_ms
    }

    fn act(&mut self) {
        let who = usize::try_from(self.roll(5)).unwrap();
        match self.roll(24) {
            0 => self.leave(who),
            1 => self.crash(who),
            2 => self.change_mind(who),
            3 if self.roll(3) == 0 => self.tale.story.reload(),
            4 if self.roll(4) == 0 => self.tale.story.sleep(self.rng.below(50_000)),
            5 | 6 => self.change_topics(),
            7 => self.repeat(),
            _ if self.clients[who].epoch == 0 => self.join(who),
            8..=18 => self.beat(who),
            _ => self.tale.story.sleep(self.rng.below(1_500)),
        }
        self.check();
    }

    fn say(&mut self, beat: Beat) -> Result<Beaten, Refused> {
        if self.roll(8) == 0 {
            // What it says it holds would be a lie by then; one connection keeps the order, so that does not happen.
            self.delayed.push(Beat { owned: None, ..beat.clone() });
        }
        self.tale.consumer_beat(beat)
    }

    fn join(&mut self, who: usize) {
        if self.clients[who].id.is_empty() {
            self.names += 1;
            self.clients[who].id = format!("m{}", self.names);
            self.choose(who);
        }
        let client = &mut self.clients[who];
        // It reads nothing until it is told to.
        client.held.clear();
        let beat = Beat {
            instance: client.instance.clone(),
            topics: Some(client.topics.clone()),
            regex: client.regex.clone(),
            ..joining_beat(&client.id, &[])
        };
        let said = self.say(beat);
        self.hear(who, said);
    }

    fn choose(&mut self, who: usize) {
        let (topics, regex) = match self.roll(6) {
            0 => (vec!["t"], None),
            1 => (vec![], Some("[tu]")),
            2 => (vec!["u", "none"], None),
            _ => (vec!["t", "u"], None),
        };
        self.clients[who].topics = topics.into_iter().map(str::to_owned).collect();
        self.clients[who].regex = Some(regex.unwrap_or_default().to_owned());
    }

    fn beat(&mut self, who: usize) {
        // First it stops reading what it is not to read any more; it may start later.
        let client = &mut self.clients[who];
        let told = client.told.clone();
        client.held.retain(|at| told.contains(at));
        // It starts nothing while it does not know what it would have been told.
        if !client.says_all && self.rng.below(4) > 0 {
            client.held = told;
        }
        let says = client.says_all || client.changes_ms.is_some() || self.rng.below(2) == 0;
        let owned = says.then(|| shares(&client.held));
        let mut beat =
            Beat { instance: client.instance.clone(), owned, ..staying_beat(&client.id, client.epoch) };
        if client.says_all {
            beat.topics = Some(client.topics.clone());
            beat.regex = client.regex.clone();
            beat.rebalance_timeout_ms = 20_000;
        }
        let said = self.say(beat);
        let lost = self.roll(10) == 0;
        if !lost {
            let settled = says && said.as_ref().is_ok_and(|beaten| beaten.assignment.is_none());
            self.hear(who, said);
            if settled {
                self.clients[who].changes_ms = None;
            }
        } else {
            let now_ms = self.now_ms();
            self.clients[who].changes_ms.get_or_insert(now_ms);
        }
        self.clients[who].says_all = lost;
    }

    fn hear(&mut self, who: usize, said: Result<Beaten, Refused>) {
        let now_ms = self.now_ms();
        match said {
            Ok(beaten) => {
                let client = &mut self.clients[who];
                client.epoch = beaten.epoch;
                client.heard_ms = now_ms;
                if let Some(assignment) = beaten.assignment {
                    client.changes_ms.get_or_insert(now_ms);
                    client.told = assignment
                        .into_iter()
                        .flat_map(|(t, ps)| ps.into_iter().map(move |p| (t, p)))
                        .collect();
                    let told = client.told.clone();
                    client.held.retain(|at| told.contains(at));
                }
            }
            Err(refused) => match refused.error {
                // A static member whose twin has not been released tries again.
                GroupError::UnreleasedInstance => {}
                GroupError::FencedMemberEpoch | GroupError::UnknownMember | GroupError::FencedInstance => {
                    let client = &mut self.clients[who];
                    let silent_ms = now_ms - client.heard_ms;
                    let unknown = refused.error == GroupError::UnknownMember;
                    // One that is about to change may have been too slow.
                    let at_rest = client.changes_ms.is_none_or(|since_ms| now_ms - since_ms < 20_000);
                    assert!(
                        !(unknown && at_rest) || silent_ms >= 45_000,
                        "a living member is unknown: {client:?}"
                    );
                    client.epoch = 0;
                    client.changes_ms = None;
                    client.held.clear();
                    client.told.clear();
                }
                other => panic!("{other:?}"),
            },
        }
    }

    fn leave(&mut self, who: usize) {
        let client = &self.clients[who];
        if client.epoch == 0 {
            return;
        }
        let epoch = if client.instance.is_some() && self.roll(2) == 0 { -2 } else { -1 };
        let beat = Beat { instance: client.instance.clone(), ..staying_beat(&client.id, epoch) };
        let _ = self.tale.consumer_beat(beat);
        self.clients[who] = Client { instance: self.clients[who].instance.clone(), ..Client::default() };
    }

    fn crash(&mut self, who: usize) {
        self.clients[who] = Client { instance: self.clients[who].instance.clone(), ..Client::default() };
    }

    fn change_mind(&mut self, who: usize) {
        if self.clients[who].epoch == 0 {
            return;
        }
        self.choose(who);
        let client = &self.clients[who];
        let (topics, regex) = (Some(client.topics.clone()), client.regex.clone());
        let beat = Beat {
            instance: client.instance.clone(),
            topics,
            regex,
            ..staying_beat(&client.id, client.epoch)
        };
        let said = self.tale.consumer_beat(beat);
        self.hear(who, said);
    }

    fn change_topics(&mut self) {
        let (which, grows) = (self.roll(6), 1 + i32::try_from(self.roll(5)).unwrap());
        self.tale.metadata(|cluster| {
            let more = |cluster: &super::topics::Topics, name: &str| {
                cluster.by_name.get(name).map_or(1, |topic| topic.partitions).max(grows)
            };
            match which {
                0 => cluster.remove("u"),
                1 | 2 => _ = cluster.set("u", more(cluster, "u")),
                3 => _ = cluster.set("t", more(cluster, "t")),
                _ => {}
            }
        });
    }

    /// A request arrives a second time, late.
    fn repeat(&mut self) {
        if self.delayed.is_empty() {
            return;
        }
        let at = usize::try_from(self.roll(u64::try_from(self.delayed.len()).unwrap())).unwrap();
        let beat = self.delayed.swap_remove(at);
        // A late join of a client that has gone, or did more since, is another client's doing.
        if beat.epoch != 0 {
            if let Some(client) = self.clients.iter_mut().find(|client| client.id == beat.member) {
                client.says_all = true;
                client.changes_ms.get_or_insert(self.tale.story.now.mono_ms);
            }
            let _ = self.tale.consumer_beat(beat);
        }
    }

    fn check(&mut self) {
        let Some(group) = self.tale.story.hard.consumer(GROUP) else { return };
        assert!(group.epoch >= self.epoch, "an epoch fell");
        self.epoch = group.epoch;
        assert!(group.assignment_epoch <= group.epoch);
        let mut owners: BTreeMap<(Uuid, i32), &str> = BTreeMap::new();
        for (id, member) in group.members() {
            assert!(member.current.epoch <= group.epoch);
            for (topic, partitions) in member.current.assigned.iter().chain(&*member.current.revoking) {
                for partition in partitions.keys() {
                    let other = owners.insert((*topic, *partition), id);
                    assert_eq!(other, None, "{topic}-{partition} has two owners");
                    assert_eq!(group.owner(*topic, *partition), Some(id));
                }
            }
        }
        let now_ms = self.now_ms();
        let mut readers: BTreeMap<(Uuid, i32), &str> = BTreeMap::new();
        // A client knows when it has been too slow.
        let in_time = |client: &&Client| {
            now_ms - client.heard_ms < 45_000
                && client.changes_ms.is_none_or(|since_ms| now_ms - since_ms < 20_000)
        };
        for client in self.clients.iter().filter(in_time) {
            for at in &client.held {
                let other = readers.insert(*at, &client.id);
                assert_eq!(other, None, "{at:?} has two readers");
            }
        }
    }

    /// Everybody behaves from now on: the group becomes stable and everything is read once.
    fn end(&mut self) {
        for who in 0..self.clients.len() {
            if self.clients[who].epoch == 0 {
                self.clients[who].instance = None;
                self.clients[who].id.clear();
            }
        }
        for round in 0..60 {
            for who in 0..self.clients.len() {
                let client = &mut self.clients[who];
                if client.epoch == 0 {
                    self.join(who);
                    continue;
                }
                client.held = client.told.clone();
                let owned = Some(shares(&client.held));
                let mut beat = Beat {
                    instance: client.instance.clone(),
                    owned,
                    ..staying_beat(&client.id, client.epoch)
                };
                if round == 0 {
                    // All of it, so that it is told everything again.
                    beat.rebalance_timeout_ms = 20_000;
                    beat.topics = Some(client.topics.clone());
                    beat.regex = client.regex.clone();
                }
                let said = self.tale.consumer_beat(beat);
                self.hear(who, said);
            }
            self.tale.story.sleep(1_500);
            self.check();
        }
        assert_eq!(self.tale.consumers().state, "Stable");
        let read: BTreeSet<_> = self.clients.iter().flat_map(|client| client.held.iter().copied()).collect();
        let subscribed = |name: &str| {
            let by_regex = |client: &Client| client.regex.as_deref() == Some("[tu]");
            self.clients.iter().any(|client| client.topics.iter().any(|t| t == name) || by_regex(client))
        };
        let cluster = &self.tale.story.view.cluster;
        let topics = cluster.names().into_iter().filter(|name| subscribed(name));
        let all = topics.filter_map(|name| cluster.topic(&name));
        let all: BTreeSet<_> =
            all.flat_map(|topic| (0..topic.partitions).map(move |p| (topic.id, p))).collect();
        assert_eq!(read, all);
    }
}

const GROUP: &str = "g";

fn shares(held: &Held) -> Vec<(Uuid, Vec<i32>)> {
    let mut by_topic: BTreeMap<Uuid, Vec<i32>> = BTreeMap::new();
    for (topic, partition) in held {
        by_topic.entry(*topic).or_default().push(*partition);
    }
    by_topic.into_iter().collect()
}

#[test]
fn random_histories_of_consumer_groups_keep_their_promises() {
    each_seed(60, |seed| {
        let mut world = World::new(seed);
        for _ in 0..400 {
            world.act();
        }
        world.end();
    });
}
