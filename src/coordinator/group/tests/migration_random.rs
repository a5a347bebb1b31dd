//! Histories of groups with members of both protocols from a seed: consumers and classic members come, report, go and
//! fall silent, the coordinator moves. `BARNABAS_SEEDS=10000 cargo test --lib random` tells more of them. What must hold:
//! a partition has one reader at a time, who reports is known, a group that is left alone comes to rest with every
//! partition read once; and replay equals what was lived.

use std::collections::{BTreeMap, BTreeSet};

use super::consumers::{joining_beat, staying_beat};
use super::migration::{classic_join, share_bytes, share_of};
use super::*;
use crate::coordinator::group::event::Beat;
use crate::rng::Rng;
use crate::seeds::each_seed;

const PARTITIONS: i32 = 5;

/// How long a client may believe what it was told last: the rebalance timeout of a classic member.
const FRESH_MS: u64 = 5_000;

#[derive(Clone, Debug, Default, PartialEq)]
enum Stage {
    #[default]
    Out,
    Joining(ReplyId),
    Syncing(ReplyId),
    In,
}

/// A client as it sees itself; one that speaks the classic protocol gives up everything before it joins.
#[derive(Clone, Debug, Default)]
struct Client {
    is_classic: bool,
    id: String,
    instance: Option<String>,
    epoch: i32,
    stage: Stage,
    held: BTreeSet<i32>,
    told: BTreeSet<i32>,
    /// Until when it may believe to be a member.
    until_ms: u64,
}

struct World {
    tale: Tale,
    rng: Rng,
    clients: Vec<Client>,
    names: u64,
}

impl World {
    fn new(seed: u64) -> World {
        let clients = (0..5).map(|n: u32| Client {
            instance: (n == 0).then(|| "fixed".to_owned()),
            is_classic: n.is_multiple_of(2),
            ..Client::default()
        });
        let tale = Tale::with_topics(&[("t", PARTITIONS)]);
        World { tale, rng: Rng::from_seed(seed), clients: clients.collect(), names: 0 }
    }

    fn act(&mut self) {
        let who = usize::try_from(self.rng.below(5)).unwrap();
        match self.rng.below(24) {
            0 => self.restart(who),
            1 if self.rng.below(3) == 0 => self.leave(who),
            2 if self.rng.below(3) == 0 => self.reload(),
            3 if self.rng.below(4) == 0 => self.tale.story.sleep(self.rng.below(50_000)),
            4..=17 => self.report(who),
            _ => self.tale.story.sleep(self.rng.below(900)),
        }
        self.check();
    }

    /// It is killed and comes back, maybe with the other protocol.
    fn restart(&mut self, who: usize) {
        let instance = self.clients[who].instance.clone();
        let is_classic = self.rng.below(2) == 0;
        self.clients[who] = Client { instance, is_classic, ..Client::default() };
    }

    fn leave(&mut self, who: usize) {
        let client = self.clients[who].clone();
        if client.stage == Stage::In && client.is_classic {
            self.tale.leave("g", &[(&client.id, client.instance.as_deref())]);
        } else if client.stage == Stage::In {
            let _ =
                self.tale.consumer_beat(Beat { instance: client.instance, ..staying_beat(&client.id, -1) });
        }
        self.restart(who);
    }

    /// Whoever waited for an answer has lost its connection.
    fn reload(&mut self) {
        for client in &mut self.clients {
            if matches!(client.stage, Stage::Joining(_) | Stage::Syncing(_)) {
                client.stage = Stage::Out;
            }
        }
        self.tale.story.reload();
    }

    fn report(&mut self, who: usize) {
        if self.clients[who].is_classic { self.report_classic(who) } else { self.report_consumer(who) }
    }

    fn report_consumer(&mut self, who: usize) {
        let client = &mut self.clients[who];
        if client.id.is_empty() {
            self.names += 1;
            client.id = format!("c{}", self.names);
        }
        let told = client.told.clone();
        client.held.retain(|partition| told.contains(partition));
        let topic = self.tale.id("t");
        let client = &mut self.clients[who];
        let beat = if client.stage == Stage::Out {
            joining_beat(&client.id, &["t"])
        } else {
            client.held = told;
            let owned = vec![(topic, client.held.iter().copied().collect())];
            Beat { owned: Some(owned), ..staying_beat(&client.id, client.epoch) }
        };
        let said = self.tale.consumer_beat(Beat { instance: client.instance.clone(), ..beat });
        let now_ms = self.tale.story.now.mono_ms;
        let client = &mut self.clients[who];
        match said {
            Ok(beaten) => {
                (client.epoch, client.stage) = (beaten.epoch, Stage::In);
                client.until_ms = now_ms + FRESH_MS;
                if let Some(assignment) = beaten.assignment {
                    client.told = assignment.into_iter().flat_map(|(_, partitions)| partitions).collect();
                    let told = client.told.clone();
                    client.held.retain(|partition| told.contains(partition));
                }
            }
            Err(refused) => self.refused(who, refused.error),
        }
    }

    fn report_classic(&mut self, who: usize) {
        let client = self.clients[who].clone();
        let now_ms = self.tale.story.now.mono_ms;
        match client.stage {
            Stage::Out => {
                self.clients[who].held.clear();
                let reply = self.tale.join(classic_join(&client.id, client.instance.as_deref(), &[]));
                self.clients[who].stage = Stage::Joining(reply);
            }
            Stage::Joining(reply) => {
                let Some(Response::Join(joined)) = self.tale.story.answer(reply) else { return };
                match joined.error {
                    None => {
                        let client = &mut self.clients[who];
                        (client.id, client.epoch) = (joined.member.to_string(), joined.generation);
                        self.sync(who, &joined);
                    }
                    Some(GroupError::MemberIdRequired) => {
                        self.clients[who].id = joined.member.to_string();
                        self.clients[who].stage = Stage::Out;
                    }
                    Some(error) => self.refused(who, error),
                }
            }
            Stage::Syncing(reply) => {
                let Some(Response::Sync(synced)) = self.tale.story.answer(reply) else { return };
                match synced.error {
                    None => {
                        let client = &mut self.clients[who];
                        client.held = share_of(&synced.assignment).into_iter().collect();
                        client.stage = Stage::In;
                    }
                    Some(error) => self.refused(who, error),
                }
            }
            Stage::In => match self.tale.beat_as("g", client.epoch, &client.id, client.instance.as_deref()) {
                Ok(()) => self.clients[who].until_ms = now_ms + FRESH_MS,
                Err(error) => self.refused(who, error),
            },
        }
    }

    fn sync(&mut self, who: usize, joined: &Joined) {
        // Answers may lie about for long before they are read; what counts is when it asked.
        self.clients[who].until_ms = self.tale.story.now.mono_ms + FRESH_MS;
        let client = self.clients[who].clone();
        let count = i32::try_from(joined.members.len()).unwrap();
        let shares = joined.members.iter().zip(0..).map(|(member, at)| {
            let partitions: Vec<i32> = (0..PARTITIONS).filter(|p| p % count == at).collect();
            (member.member.to_string(), share_bytes(&partitions))
        });
        let reply = self.tale.ask(Request::Sync(Sync {
            assignments: shares.collect(),
            instance: client.instance,
            ..syncing("g", client.epoch, &client.id)
        }));
        self.clients[who].stage = Stage::Syncing(reply);
    }

    fn refused(&mut self, who: usize, error: GroupError) {
        let now_ms = self.tale.story.now.mono_ms;
        let client = &mut self.clients[who];
        match error {
            // Its twin has not gone for good yet.
            GroupError::UnreleasedInstance => {}
            GroupError::RebalanceInProgress | GroupError::IllegalGeneration if client.is_classic => {
                client.stage = Stage::Out;
            }
            GroupError::UnknownMember | GroupError::FencedMemberEpoch | GroupError::FencedInstance => {
                let known = client.stage == Stage::In && error == GroupError::UnknownMember;
                assert!(!known || client.until_ms <= now_ms, "who reports is unknown: {client:?}");
                let (instance, is_classic) = (client.instance.clone(), client.is_classic);
                *client = Client { instance, is_classic, ..Client::default() };
            }
            // All others have become classic, and it was put out.
            GroupError::GroupIdNotFound => {
                assert!(client.until_ms <= now_ms, "who reports is unknown: {client:?}");
                let (instance, is_classic) = (client.instance.clone(), client.is_classic);
                *client = Client { instance, is_classic, ..Client::default() };
            }
            other => panic!("{other:?}: {client:?}"),
        }
    }

    fn check(&self) {
        let now_ms = self.tale.story.now.mono_ms;
        let mut readers = BTreeMap::new();
        for client in self.clients.iter().filter(|client| client.until_ms > now_ms) {
            for partition in &client.held {
                let other = readers.insert(*partition, &client.id);
                assert_eq!(other, None, "partition {partition} has two readers: {:?}", self.clients);
            }
        }
    }

    /// Everybody behaves from now on.
    fn end(&mut self) {
        for _ in 0..120 {
            for who in 0..self.clients.len() {
                self.report(who);
            }
            self.tale.story.sleep(600);
            self.check();
        }
        let read: Vec<i32> = self.clients.iter().flat_map(|client| client.held.iter().copied()).collect();
        let all: BTreeSet<i32> = read.iter().copied().collect();
        assert_eq!((read.len(), all), (5, (0..PARTITIONS).collect()), "{:?}", self.clients);
    }
}

#[test]
fn random_histories_of_groups_of_both_protocols_keep_their_promises() {
    each_seed(60, |seed| {
        let mut world = World::new(seed);
        for _ in 0..300 {
            world.act();
        }
        world.end();
    });
}
