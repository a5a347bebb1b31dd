//! Histories from a seed: members join, sync, beat, leave, vanish and repeat themselves, in any order, while timers
//! fire and the coordinator moves. `BARNABAS_SEEDS=10000 cargo test --lib random` tells more of them.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::*;
use crate::coordinator::group::Record;
use crate::coordinator::records::{Names, Stored};
use crate::rng::Rng;
use crate::seeds::each_seed;

const GROUP: &str = "g";

/// A client as it sees itself.
#[derive(Clone, Debug, Default)]
struct Client {
    id: String,
    instance: Option<String>,
    generation: i32,
    leads: Vec<String>,
    joining: Option<ReplyId>,
    syncing: Option<ReplyId>,
    /// It has its share of this generation.
    synced: bool,
    /// When it last heard, with its share, that all is well.
    kept_ms: u64,
}

struct World {
    tale: Tale,
    rng: Rng,
    clients: Vec<Client>,
    /// What each generation has handed out: a share has one owner.
    owners: BTreeMap<(i32, String), String>,
    /// The highest generation seen since the last reload.
    generation: i32,
    /// Somebody ever got a share.
    shared: bool,
    old_requests: Vec<Request>,
}

impl World {
    fn new(seed: u64) -> World {
        let rng = Rng::from_seed(seed);
        let clients = (0..5)
            .map(|n: u32| Client { instance: (n == 0).then(|| "fixed".to_owned()), ..Client::default() });
        World {
            tale: Tale::new(),
            rng,
            clients: clients.collect(),
            owners: BTreeMap::new(),
            generation: 0,
            shared: false,
            old_requests: Vec::new(),
        }
    }

    fn roll(&self, sides: u64) -> u64 {
        self.rng.below(sides)
    }

    fn ask(&mut self, request: Request) -> ReplyId {
        if self.roll(8) == 0 {
            self.old_requests.push(request.clone());
        }
        self.tale.ask(request)
    }

    fn act(&mut self) {
        let who = usize::try_from(self.roll(5)).unwrap();
        let client = &self.clients[who];
        match self.roll(20) {
            // More often than not, clients do what they should.
            _ if self.roll(3) > 0 => match client {
                client if client.joining.is_some() || client.syncing.is_some() => {
                    self.tale.story.sleep(self.rng.below(400));
                }
                client if client.generation == 0 => self.join(who),
                client if !client.synced => self.sync(who),
                _ => self.beat(who),
            },
            0..=4 => self.join(who),
            5..=8 => self.sync(who),
            9..=12 => self.beat(who),
            13 => self.leave(who),
            // It forgets everything: a crash.
            14 => {
                self.clients[who] =
                    Client { instance: self.clients[who].instance.clone(), ..Client::default() }
            }
            15 if self.roll(3) == 0 => self.tale.story.sleep(self.rng.below(40_000)),
            16 if self.roll(4) == 0 => self.reload(),
            17 => self.repeat(),
            18 => self.commit(who),
            _ => self.tale.story.sleep(self.rng.below(800)),
        }
        self.collect();
        self.check();
    }

    fn join(&mut self, who: usize) {
        let client = self.clients[who].clone();
        if client.joining.is_some() {
            return;
        }
        let protocols =
            if self.roll(4) == 0 { protocols(&["range", "sticky"]) } else { protocols(&["range"]) };
        let (session_timeout_ms, fresh) = (10_000, u128::from(self.rng.next_u64()));
        let join = Join {
            instance: client.instance,
            session_timeout_ms,
            protocols,
            fresh,
            ..joining(GROUP, &client.id)
        };
        let reply = self.ask(Request::Join(Box::new(join)));
        self.clients[who].joining = Some(reply);
        self.clients[who].syncing = None;
    }

    fn sync(&mut self, who: usize) {
        let client = self.clients[who].clone();
        if client.generation == 0 || client.syncing.is_some() {
            return;
        }
        let shares = client.leads.iter().map(|id| (id.clone(), Bytes::copy_from_slice(id.as_bytes())));
        let sync = Sync {
            instance: client.instance,
            assignments: shares.collect(),
            protocol: None,
            ..syncing(GROUP, client.generation, &client.id)
        };
        let reply = self.ask(Request::Sync(sync));
        self.clients[who].syncing = Some(reply);
    }

    fn beat(&mut self, who: usize) {
        let client = self.clients[who].clone();
        if client.generation == 0 {
            return;
        }
        let (member, instance, generation) = (client.id.clone(), client.instance.clone(), client.generation);
        let beat = Heartbeat { group: GROUP.into(), member, instance, generation };
        let now_ms = self.tale.story.now.mono_ms;
        let reply = self.ask(Request::Heartbeat(beat));
        let Response::Heartbeat(result) = self.tale.said(reply) else { panic!("no heartbeat") };
        match result {
            Ok(()) if client.synced => self.clients[who].kept_ms = now_ms,
            Ok(()) => {}
            Err(GroupError::RebalanceInProgress) => self.clients[who].generation = 0,
            Err(GroupError::UnknownMember | GroupError::FencedInstance) => self.lost(who),
            Err(GroupError::IllegalGeneration) => self.clients[who].generation = 0,
            Err(other) => panic!("{other:?}"),
        }
    }

    /// The coordinator does not know the member: it must have missed a rebalance (5 s) or its session (10 s).
    fn lost(&mut self, who: usize) {
        let client = std::mem::take(&mut self.clients[who]);
        let silent_ms = self.tale.story.now.mono_ms - client.kept_ms;
        assert!(client.kept_ms == 0 || silent_ms >= 5_000, "a living member is unknown: {client:?}");
        self.clients[who].instance = client.instance;
    }

    fn leave(&mut self, who: usize) {
        let client = self.clients[who].clone();
        if client.id.is_empty() {
            return;
        }
        let members = vec![(client.id, client.instance.clone())];
        let reply = self.tale.ask(Request::Leave(Leave { group: GROUP.into(), members }));
        let _ = self.tale.said(reply);
        self.clients[who] = Client { instance: client.instance, ..Client::default() };
    }

    fn commit(&mut self, who: usize) {
        let client = self.clients[who].clone();
        let (generation, member) = (client.generation, client.id.clone());
        let offset = i64::try_from(self.roll(1000)).unwrap();
        let commit =
            Commit { generation, member, instance: client.instance, ..committing(GROUP, "t", 0, offset) };
        let reply = self.ask(Request::Commit(commit));
        let Response::Commit(result) = self.tale.said(reply) else { panic!("no commit") };
        if result.is_ok() {
            assert_eq!(self.tale.offset(GROUP, "t", 0), offset);
        }
    }

    /// A message of the past arrives once more; nobody listens to the answer.
    fn repeat(&mut self) {
        if self.old_requests.is_empty() {
            return;
        }
        let at = usize::try_from(self.roll(self.old_requests.len() as u64)).unwrap();
        let mut request = self.old_requests[at].clone();
        // A repeated join or leave takes the member's place or puts it out, as the real one would have.
        if let Request::Join(join) = &mut request {
            join.fresh = u128::from(self.rng.next_u64());
            for client in self.clients.iter_mut().filter(|client| client.id == join.member) {
                client.kept_ms = 0;
            }
            if join.instance.is_some() {
                self.clients[0].kept_ms = 0;
            }
        }
        if matches!(request, Request::Sync(_)) {
            return;
        }
        self.tale.ask(request);
    }

    fn reload(&mut self) {
        self.tale.story.reload();
        for client in &mut self.clients {
            // Their connections break; members that were not on record have to come anew.
            (client.joining, client.syncing, client.kept_ms) = (None, None, 0);
        }
        self.owners.clear();
        self.generation = self.tale.story.soft.group(GROUP).map_or(0, |group| group.generation);
    }

    /// Clients take in what has been answered.
    fn collect(&mut self) {
        for who in 0..self.clients.len() {
            if let Some(reply) = self.clients[who].joining
                && let Some(Response::Join(joined)) = self.tale.story.answer(reply)
            {
                self.clients[who].joining = None;
                self.joined(who, &joined);
            }
            if let Some(reply) = self.clients[who].syncing
                && let Some(Response::Sync(synced)) = self.tale.story.answer(reply)
            {
                self.clients[who].syncing = None;
                self.synced(who, &synced);
            }
        }
    }

    fn joined(&mut self, who: usize, joined: &Joined) {
        let client = &mut self.clients[who];
        (client.kept_ms, client.synced) = (0, false);
        match joined.error {
            None => {
                assert!(joined.generation > 0);
                client.id = joined.member.to_string();
                client.generation = joined.generation;
                let lead = joined.leader == joined.member && !joined.skip_assignment;
                let members = joined.members.iter().map(|member| member.member.to_string());
                client.leads = if lead { members.collect() } else { Vec::new() };
            }
            Some(GroupError::MemberIdRequired) => client.id = joined.member.to_string(),
            Some(_) => *client = Client { instance: client.instance.clone(), ..Client::default() },
        }
    }

    fn synced(&mut self, who: usize, synced: &Synced) {
        let client = self.clients[who].clone();
        self.clients[who].synced = synced.error.is_none();
        self.shared |= synced.error.is_none();
        match synced.error {
            None if !synced.assignment.is_empty() => {
                let share = String::from_utf8(synced.assignment.to_vec()).unwrap();
                let place = client.instance.unwrap_or(client.id);
                let owner = self.owners.entry((client.generation, share)).or_insert_with(|| place.clone());
                assert_eq!(*owner, place, "two owners of one share");
            }
            None => {}
            Some(GroupError::RebalanceInProgress | GroupError::IllegalGeneration) => {
                self.clients[who].generation = 0;
            }
            Some(_) => {
                let instance = self.clients[who].instance.clone();
                self.clients[who] = Client { instance, ..Client::default() };
            }
        }
    }

    fn check(&mut self) {
        let Some(group) = self.tale.story.soft.group(GROUP) else { return };
        assert!(group.generation >= self.generation, "the generation went back");
        self.generation = group.generation;
        let joining = group.members().values().filter(|member| member.joining.is_some()).count();
        assert_eq!(joining, group.joining());
        for member in group.members().values() {
            let armed = member.timer_ms.is_some_and(|armed| armed <= member.session_ends_ms);
            let waits = member.joining.is_some() || member.syncing.is_some();
            assert!(armed || waits, "nobody watches a session: {member:?}");
        }
        // What is on record is what lives, once it is stable.
        if let (Some(value), "Stable") = (self.tale.story.hard.group(GROUP), group.state().name()) {
            let lives = group.to_record(|member| member.assignment.clone());
            assert_eq!((&lives.members, lives.generation), (&value.members, value.generation));
        }
    }

    /// On record, generations only rise, whatever was lost in between.
    fn end(&self) {
        let mut last = 0;
        for (key, value) in &self.tale.story.log {
            if let Ok(Record::Group { value: Some(value), .. }) =
                GroupMachine::decode(key, value.as_deref(), None, &mut Names::default())
            {
                assert!(value.generation >= last, "generation {} after {last}", value.generation);
                last = value.generation;
            }
        }
    }
}

#[test]
fn random_histories_keep_what_is_promised() {
    let stable = Cell::new(0);
    let told = each_seed(200, |seed| {
        let mut world = World::new(seed);
        for _ in 0..400 {
            world.act();
        }
        world.end();
        stable.set(stable.get() + u64::from(world.shared));
    });
    assert!(told == 1 || stable.get() * 2 > told, "too few histories reach a stable group: {}", stable.get());
}
