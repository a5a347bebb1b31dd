use barnabas_protocol::messages::broker_registration::Listener;

use super::super::features;
use super::super::story::{self, Story};
use super::*;

struct World {
    story: Story,
    sessions: Sessions,
    now_ms: u64,
}

fn request(id: i32, run: u8) -> BrokerRegistrationRequest {
    let feature = |feature: FeatureRange| barnabas_protocol::messages::broker_registration::Feature {
        name: feature.name.to_string(),
        min_supported_version: feature.min,
        max_supported_version: feature.max,
    };
    BrokerRegistrationRequest {
        broker_id: id,
        cluster_id: "cluster".to_owned(),
        incarnation_id: Uuid([run; 16]),
        listeners: vec![Listener {
            name: "PLAINTEXT".into(),
            host: "h".into(),
            port: 9,
            security_protocol: 0,
        }],
        features: features::supported().into_iter().map(feature).collect(),
        rack: None,
        log_dirs: vec![Uuid([u8::try_from(id).unwrap() + 100; 16])],
        ..Default::default()
    }
}

impl World {
    fn new() -> World {
        let story = Story::started();
        let sessions = Sessions::begin(story.image(), 9000, Some(500), Some(1), 0);
        World { story, sessions, now_ms: 0 }
    }

    fn moment(&self) -> Moment {
        Moment { next_offset: i64::try_from(self.story.log.len()).unwrap(), now_ms: self.now_ms }
    }

    fn register(&mut self, request: &BrokerRegistrationRequest) -> Result<i64, ErrorCode> {
        let (moment, sessions) = (self.moment(), &mut self.sessions);
        let reply = self.story.run(|image, view| register(image, view, sessions, moment, request));
        reply.map(|reply| reply.broker_epoch).map_err(|refusal| refusal.code)
    }

    fn heartbeat(
        &mut self,
        id: i32,
        epoch: i64,
        edit: impl FnOnce(&mut BrokerHeartbeatRequest),
    ) -> Result<(bool, bool), ErrorCode> {
        let mut request = BrokerHeartbeatRequest {
            broker_id: id,
            broker_epoch: epoch,
            current_metadata_offset: i64::MAX,
            ..Default::default()
        };
        edit(&mut request);
        let (moment, sessions) = (self.moment(), &mut self.sessions);
        let reply = self.story.run(|image, view| heartbeat(image, view, sessions, moment, &request));
        reply.map(|reply| (reply.is_fenced, reply.should_shut_down)).map_err(|refusal| refusal.code)
    }
}

#[test]
fn a_broker_registers_fenced_and_is_let_in_once_it_has_caught_up() {
    let mut world = World::new();
    let epoch = world.register(&request(2, 1)).unwrap();
    assert!(world.story.image().broker(2).unwrap().fenced);
    let behind = world.heartbeat(2, epoch, |request| request.current_metadata_offset = epoch - 1);
    assert_eq!(behind, Ok((true, false)));
    assert_eq!(world.heartbeat(2, epoch, |_| ()), Ok((false, false)));
    assert!(world.story.image().broker(2).unwrap().is_active());
    assert_eq!(world.heartbeat(2, epoch + 1, |_| ()), Err(ErrorCode::StaleBrokerEpoch));
    assert_eq!(world.heartbeat(3, 0, |_| ()), Err(ErrorCode::StaleBrokerEpoch));
    world.story.the_end();
}

#[test]
fn a_twin_is_refused_while_the_other_is_alive() {
    let mut world = World::new();
    world.register(&request(2, 5)).unwrap();
    let first = world.register(&request(2, 1)).expect("nobody has heard of the other one");
    world.heartbeat(2, first, |_| ()).unwrap();
    assert_eq!(world.register(&request(2, 1)), Ok(first), "the same run may ask again");
    assert_eq!(world.register(&request(2, 9)), Err(ErrorCode::DuplicateBrokerRegistration));
    world.now_ms = 9000;
    assert!(world.register(&request(2, 9)).unwrap() > first);
    world.story.the_end();
}

#[test]
fn after_a_fall_of_everything_a_broker_waits_only_for_the_grace() {
    let mut world = World::new();
    let epoch = world.register(&request(2, 1)).unwrap();
    world.heartbeat(2, epoch, |_| ()).unwrap();
    // A new controller has heard of nobody yet.
    world.now_ms = 100;
    world.sessions = Sessions::begin(world.story.image(), 9000, Some(500), Some(1), 100);
    let elsewhere = BrokerRegistrationRequest { log_dirs: vec![Uuid([50; 16])], ..request(2, 7) };
    assert_eq!(world.register(&elsewhere), Err(ErrorCode::DuplicateBrokerRegistration));
    world.now_ms = 700;
    assert_eq!(world.register(&elsewhere), Err(ErrorCode::DuplicateBrokerRegistration), "it may be a twin");
    assert_eq!(world.register(&request(2, 9)), Err(ErrorCode::DuplicateBrokerRegistration));
    world.now_ms = 1200;
    assert!(world.register(&request(2, 9)).unwrap() > epoch, "who has its directories is its next run");
    world.story.the_end();
}

#[test]
fn strangers_are_refused() {
    let mut world = World::new();
    let foreign = BrokerRegistrationRequest { cluster_id: "another".into(), ..request(2, 1) };
    assert_eq!(world.register(&foreign), Err(ErrorCode::InconsistentClusterId));
    let nowhere = BrokerRegistrationRequest { log_dirs: vec![], ..request(2, 1) };
    assert_eq!(world.register(&nowhere), Err(ErrorCode::InvalidRegistration));
    let of_one = BrokerRegistrationRequest { log_dirs: story::node().directories, ..request(2, 1) };
    assert_eq!(world.register(&of_one), Err(ErrorCode::InvalidRegistration));
    let silent = BrokerRegistrationRequest { features: vec![], ..request(2, 1) };
    assert_eq!(world.register(&silent), Err(ErrorCode::InvalidRegistration));
    let mut old = request(2, 1);
    old.features.retain(|feature| feature.name == "metadata.version");
    assert_eq!(world.register(&old), Err(ErrorCode::UnsupportedVersion));
}

#[test]
fn silence_fences_and_so_does_a_connection_that_ends() {
    let mut world = World::new();
    let epoch = world.register(&request(2, 1)).unwrap();
    world.heartbeat(2, epoch, |_| ()).unwrap();
    assert_eq!(world.sessions.next_end(world.story.image()), Some(9000));
    world.sessions.hung_up(2, epoch, 0);
    assert_eq!(world.sessions.next_end(world.story.image()), Some(500));
    let sessions = &mut world.sessions;
    let over = world.story.run(|image, view| expire(image, view, sessions, 500));
    assert_eq!(over, [2]);
    assert!(world.story.image().broker(2).unwrap().fenced);
    assert_eq!(world.sessions.next_end(world.story.image()), None);
    world.story.the_end();
}

#[test]
fn whoever_leads_something_hands_it_over_before_it_goes() {
    let mut world = World::new();
    let epoch = world.register(&request(2, 1)).unwrap();
    world.heartbeat(2, epoch, |_| ()).unwrap();
    assert_eq!(world.heartbeat(2, epoch, |request| request.want_shut_down = true), Ok((true, true)));
    world.heartbeat(2, epoch, |_| ()).unwrap();
    world.story.topic("t", &[2, 1]);
    assert_eq!(world.heartbeat(2, epoch, |request| request.want_shut_down = true), Ok((false, false)));
    let broker = world.story.image().broker(2).unwrap();
    assert!(broker.in_controlled_shutdown && !broker.is_active());
    let partition = world.story.image().topic("t").unwrap().partition(0).unwrap().clone();
    assert_eq!((partition.leader, partition.isr.as_slice()), (1, [1].as_slice()));
    assert_eq!(world.heartbeat(2, epoch, |request| request.want_shut_down = true), Ok((true, true)));
    world.story.the_end();
}

#[test]
fn who_is_gone_for_good_is_forgotten() {
    let mut world = World::new();
    world.register(&request(2, 1)).unwrap();
    world.story.run(|image, view| unregister(image, view, 2)).unwrap();
    assert!(world.story.image().broker(2).is_none());
    let refused = world.story.run(|image, view| unregister(image, view, 2)).unwrap_err();
    assert_eq!(refused.code, ErrorCode::BrokerIdNotRegistered);
    world.story.the_end();
}
