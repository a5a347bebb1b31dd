//! A broker's place in its cluster: it registers, reports that it is there, and takes its leave.
//!
//! *Registration*: the controller gives this run of the process an epoch. *Heartbeat*: says how far the broker has the
//! metadata, and what it wants to be; the answer says what it is. A broker is *fenced* – it leads nothing, and clients
//! are not told of it – until it has caught up with its own registration, and again when it is silent for too long.
//! *Controlled shutdown*: what it leads goes to others before it stops.

mod controllers;

use std::sync::Arc;

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::broker_registration::{Feature, Listener};
use barnabas_protocol::messages::{
    BrokerHeartbeatRequest, BrokerHeartbeatResponse, BrokerRegistrationRequest,
};
use tokio::sync::watch;
use tracing::{error, info, warn};

use crate::clock::Clock;
use crate::controller::image::{Endpoint, FeatureRange};
use crate::controller::{Channel, Metadata};
use crate::ids::Uuid;
use crate::shutdown::Shutdown;

pub use controllers::ControllerIdentity;

/// The pause between two tries to register, in ms.
const AGAIN_MS: u64 = 100;
/// The pause between two heartbeats of a broker that waits to be let go, in ms.
const LEAVING_MS: u64 = 20;
/// How long a broker that wants to go waits for a controller's answer, in ms: without a quorum there is nobody to let
/// it go, and nobody to take over.
const LAST_ANSWER_MS: u64 = 3_000;

/// What a broker says of itself.
#[derive(Clone, Debug)]
pub struct Identity {
    /// `node.id`.
    pub node_id: i32,
    /// The cluster that its directories belong to.
    pub cluster_id: String,
    /// Drawn for this run of the process.
    pub incarnation: Uuid,
    /// Its advertised listeners.
    pub endpoints: Vec<Endpoint>,
    /// What it supports.
    pub features: Vec<FeatureRange>,
    /// `broker.rack`.
    pub rack: Option<String>,
    /// Ids of its log directories.
    pub directories: Vec<Uuid>,
    /// The epoch of the last run, if that stopped in order; else -1.
    pub previous_epoch: i64,
}

/// Times, in ms.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// `broker.heartbeat.interval.ms`.
    pub heartbeat_ms: u64,
    /// `broker.session.timeout.ms`.
    pub session_ms: u64,
    /// `initial.broker.registration.timeout.ms`.
    pub registration_ms: u64,
}

/// What the controller says the broker is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Not registered yet.
    Stranger,
    /// Registered; it leads nothing.
    Fenced,
    /// Clients are told of it.
    Active,
    /// It may stop.
    Released,
    /// It could not register in time.
    Refused,
}

/// Keeps the broker in its cluster.
pub struct Lifecycle {
    identity: Identity,
    times: Times,
    channel: Channel,
    metadata: Metadata,
    clock: Clock,
    standing: watch::Sender<Standing>,
    leave: watch::Receiver<bool>,
}

/// Asks the lifecycle, and watches it.
#[derive(Clone)]
pub struct Handle {
    standing: watch::Receiver<Standing>,
    leave: Arc<watch::Sender<bool>>,
}

impl Handle {
    /// What the broker is, and every change of it.
    pub fn standing(&self) -> watch::Receiver<Standing> {
        self.standing.clone()
    }

    /// Asks to be let go, and waits until the controller does.
    pub async fn leave(&self) {
        self.leave.send_replace(true);
        let mut standing = self.standing.clone();
        let gone = |standing: &Standing| matches!(standing, Standing::Released | Standing::Refused);
        // An error means that nobody reports any more.
        let _ended = standing.wait_for(gone).await;
    }
}

impl Lifecycle {
    /// A broker that is to join. Heartbeats have a connection of their own.
    pub fn new(
        identity: Identity,
        times: Times,
        channel: &Channel,
        metadata: Metadata,
        clock: Clock,
    ) -> (Lifecycle, Handle) {
        let (standing, seen) = watch::channel(Standing::Stranger);
        let (ask, leave) = watch::channel(false);
        let channel = channel.own_line();
        let lifecycle = Lifecycle { identity, times, channel, metadata, clock, standing, leave };
        (lifecycle, Handle { standing: seen, leave: Arc::new(ask) })
    }

    /// Runs until the broker was let go, or must not go on.
    pub async fn run(mut self, mut shutdown: Shutdown) {
        let joined = tokio::select! {
            biased;
            () = shutdown.requested() => return,
            joined = self.register() => joined,
        };
        if !joined {
            self.standing.send_replace(Standing::Refused);
            return;
        }
        tokio::select! {
            biased;
            () = shutdown.requested() => {}
            () = self.report() => {}
        }
    }

    /// Registers; false if the time is up.
    async fn register(&mut self) -> bool {
        let deadline_ms = self.clock.now().mono_ms.saturating_add(self.times.registration_ms);
        let request = self.identity.request();
        let mut told = ErrorCode::None;
        loop {
            let code = match self.channel.ask(&request, deadline_ms).await {
                Ok(response) if response.error_code == 0 => {
                    self.channel.set_broker_epoch(response.broker_epoch);
                    self.standing.send_replace(Standing::Fenced);
                    info!(epoch = response.broker_epoch, "registered with the controller");
                    return true;
                }
                Ok(response) => {
                    ErrorCode::from_code(response.error_code).unwrap_or(ErrorCode::UnknownServerError)
                }
                Err(error) => {
                    error!("the broker could not register: {error}; is a controller of the quorum running?");
                    return false;
                }
            };
            if code != told {
                warn!(%code, "the controller does not register this broker: {}", remedy(code));
                told = code;
            }
            let now_ms = self.clock.now().mono_ms;
            if now_ms >= deadline_ms {
                error!(%code, "the broker could not register in time: {}", remedy(code));
                return false;
            }
            self.clock.sleep_until(now_ms.saturating_add(AGAIN_MS)).await;
        }
    }

    /// Reports until the controller lets the broker go.
    async fn report(&mut self) {
        let mut offsets = self.metadata.watch();
        loop {
            let leaving = *self.leave.borrow_and_update();
            let offset = *offsets.borrow_and_update();
            let asked_ms = self.clock.now().mono_ms;
            let answer = self.heartbeat(leaving, offset).await;
            let sent_ms = self.clock.now().mono_ms;
            match answer {
                Some(answer) if answer.should_shut_down => {
                    self.standing.send_replace(Standing::Released);
                    return;
                }
                Some(answer) => self.note(answer.is_fenced),
                None if leaving && self.silent_since(asked_ms, LAST_ANSWER_MS) => {
                    warn!("no controller lets this broker go: it goes without that");
                    self.standing.send_replace(Standing::Released);
                    return;
                }
                None => {}
            }
            let pause_ms = if leaving { LEAVING_MS } else { self.times.heartbeat_ms };
            let due_ms = sent_ms.saturating_add(pause_ms);
            let fenced = *self.standing.borrow() == Standing::Fenced;
            loop {
                tokio::select! {
                    biased;
                    Ok(()) = self.leave.changed() => break,
                    () = self.clock.sleep_until(due_ms) => break,
                    Ok(()) = offsets.changed() => {
                        // The sooner it is known that this broker has caught up, or that it knows of another one's
                        // leave, the sooner that one, or this, goes on.
                        let image = self.metadata.image();
                        let caught_up = fenced && offset < self.channel.broker_epoch()
                            && image.offset() >= self.channel.broker_epoch();
                        let mut brokers = image.brokers();
                        let news = brokers.any(|broker| broker.in_controlled_shutdown && !broker.fenced);
                        if caught_up || news {
                            break;
                        }
                    }
                }
            }
        }
    }

    fn silent_since(&self, asked_ms: u64, patience_ms: u64) -> bool {
        self.clock.now().mono_ms.saturating_sub(asked_ms) >= patience_ms
    }

    fn note(&self, is_fenced: bool) {
        let now = if is_fenced { Standing::Fenced } else { Standing::Active };
        self.standing.send_if_modified(|standing| {
            let changed = *standing != now;
            if changed {
                info!(?now, "the controller says what this broker is");
            }
            *standing = now;
            changed
        });
    }

    async fn heartbeat(&self, leaving: bool, offset: i64) -> Option<BrokerHeartbeatResponse> {
        let request = BrokerHeartbeatRequest {
            broker_id: self.identity.node_id,
            broker_epoch: self.channel.broker_epoch(),
            current_metadata_offset: offset,
            want_fence: false,
            want_shut_down: leaving,
            ..Default::default()
        };
        let patience_ms = if leaving { LAST_ANSWER_MS } else { self.times.session_ms };
        let deadline_ms = self.clock.now().mono_ms.saturating_add(patience_ms);
        match self.channel.ask(&request, deadline_ms).await {
            Ok(response) if response.error_code == 0 => Some(response),
            Ok(response) => {
                let code = ErrorCode::from_code(response.error_code).unwrap_or(ErrorCode::UnknownServerError);
                warn!(%code, "the controller refused a heartbeat: {}", remedy(code));
                None
            }
            Err(error) => {
                warn!("a heartbeat was not answered: {error}");
                None
            }
        }
    }
}

impl Identity {
    fn request(&self) -> BrokerRegistrationRequest {
        let listener = |endpoint: &Endpoint| Listener {
            name: endpoint.listener.to_string(),
            host: endpoint.host.to_string(),
            port: endpoint.port,
            security_protocol: endpoint.security_protocol,
        };
        let feature = |feature: &FeatureRange| Feature {
            name: feature.name.to_string(),
            min_supported_version: feature.min,
            max_supported_version: feature.max,
        };
        BrokerRegistrationRequest {
            broker_id: self.node_id,
            cluster_id: self.cluster_id.clone(),
            incarnation_id: self.incarnation,
            listeners: self.endpoints.iter().map(listener).collect(),
            features: self.features.iter().map(feature).collect(),
            rack: self.rack.clone(),
            is_migrating_zk_broker: false,
            log_dirs: self.directories.clone(),
            previous_broker_epoch: self.previous_epoch,
        }
    }
}

/// What somebody can do about a refusal.
fn remedy(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::DuplicateBrokerRegistration => {
            "another process runs with this node.id, or the last run of this one has not been missed yet"
        }
        ErrorCode::InconsistentClusterId => {
            "its directories belong to another cluster: see cluster.id in meta.properties"
        }
        ErrorCode::UnsupportedVersion => "the cluster uses features that this version does not have",
        ErrorCode::StaleBrokerEpoch => "it was registered anew, or unregistered: restart it",
        _ => "see the controller's log",
    }
}

/// The leave of a broker that was never away from its controller, which is in the same process: what it leads goes to
/// the other brokers of the cluster. Without others nothing happens.
pub async fn leave_alone(channel: &Channel, metadata: &Metadata, clock: &Clock) {
    let (image, epoch) = (metadata.image(), channel.broker_epoch());
    let own = image.brokers().find(|broker| broker.epoch == epoch).map(|broker| broker.id);
    let Some(broker_id) = own else { return };
    if !image.brokers().any(|broker| broker.id != broker_id && broker.is_active()) {
        return;
    }
    let request = BrokerHeartbeatRequest {
        broker_id,
        broker_epoch: epoch,
        current_metadata_offset: i64::MAX,
        want_shut_down: true,
        ..Default::default()
    };
    loop {
        let now_ms = clock.now().mono_ms;
        match channel.ask(&request, now_ms.saturating_add(LEAVING_MS)).await {
            Ok(answer) if answer.error_code != 0 || answer.should_shut_down => return,
            Ok(_) | Err(_) => clock.sleep_until(now_ms.saturating_add(LEAVING_MS)).await,
        }
    }
}
