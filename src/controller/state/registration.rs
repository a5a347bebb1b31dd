//! Brokers come, report, and go.

use std::collections::BTreeSet;

use barnabas_protocol::error::ErrorCode;
use barnabas_protocol::messages::records::metadata::{
    BrokerRegistrationChangeRecord, UnregisterBrokerRecord,
};
use barnabas_protocol::messages::{
    BrokerHeartbeatRequest, BrokerHeartbeatResponse, BrokerRegistrationRequest, BrokerRegistrationResponse,
    ControllerRegistrationRequest, ControllerRegistrationResponse, controller_registration,
};

use super::super::image::{BrokerImage, ControllerImage, Endpoint, FeatureRange, Image, PartitionImage};
use super::super::record::Record;
use super::features::METADATA_VERSION;
use super::partition_change::{Touched, touched, touched_where};
use super::sessions::Sessions;
use super::{Decision, Refusal, View, brokers, partitions};
use crate::ids::Uuid;

/// What the driver knows and the image does not.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The offset that the next record gets.
    pub next_offset: i64,
    /// Monotonic time, in ms.
    pub now_ms: u64,
}

/// Refuses who is not the broker that it says, in its present registration.
///
/// # Errors
/// `STALE_BROKER_EPOCH`.
pub fn check_epoch(image: &Image, broker: i32, epoch: i64) -> Result<(), Refusal> {
    match image.broker(broker) {
        None => Err(Refusal::new(
            ErrorCode::StaleBrokerEpoch,
            format!("No broker registration found for broker id {broker}"),
        )),
        Some(known) if known.epoch != epoch => Err(Refusal::new(
            ErrorCode::StaleBrokerEpoch,
            format!("Expected broker epoch {}, but got broker epoch {epoch}", known.epoch),
        )),
        Some(_) => Ok(()),
    }
}

/// BrokerRegistration: the broker gets an epoch and is fenced until it has caught up.
pub fn register(
    image: &Image,
    view: &View<'_>,
    sessions: &mut Sessions,
    moment: Moment,
    request: &BrokerRegistrationRequest,
) -> Decision<Result<BrokerRegistrationResponse, Refusal>> {
    if let Err(refusal) = check(image, sessions, moment, request) {
        // Directories are locked by the process that uses them.
        let same_dirs = image.broker(request.broker_id).is_some_and(|known| {
            let before: BTreeSet<&Uuid> = known.directories.iter().collect();
            before == request.log_dirs.iter().collect()
        });
        if same_dirs && refusal.code == ErrorCode::DuplicateBrokerRegistration {
            sessions.seems_gone(request.broker_id, moment.now_ms);
        }
        return Decision::only(Err(refusal));
    }
    let known = image.broker(request.broker_id);
    let mut broker = registered(request);
    let mut records = Vec::new();
    match known {
        // The same run of the process says again what it said before.
        Some(known) if known.incarnation == request.incarnation_id => {
            broker.epoch = known.epoch;
            broker.fenced = known.fenced;
            broker.in_controlled_shutdown = known.in_controlled_shutdown;
            broker.cordoned.clone_from(&known.cordoned);
        }
        known => {
            if let Some(known) = known {
                let clean = known.epoch == request.previous_broker_epoch;
                let what = if clean { Touched::Gone(known.id) } else { Touched::Lost(known.id) };
                records.extend(touched(image, view, what));
            }
            // It counts as alive from its first heartbeat on.
            sessions.forget(broker.id);
            let before = i64::try_from(records.len()).unwrap_or(i64::MAX);
            broker.epoch = moment.next_offset.saturating_add(before);
        }
    }
    records.push(brokers::to_record(&broker).into());
    let reply = BrokerRegistrationResponse { broker_epoch: broker.epoch, ..Default::default() };
    Decision { records, reply: Ok(reply) }
}

fn check(
    image: &Image,
    sessions: &Sessions,
    moment: Moment,
    request: &BrokerRegistrationRequest,
) -> Result<(), Refusal> {
    let id = request.broker_id;
    if request.cluster_id != image.cluster_id() {
        let message =
            format!("Expected cluster ID {}, but got cluster ID {}", image.cluster_id(), request.cluster_id);
        return Err(Refusal::new(ErrorCode::InconsistentClusterId, message));
    }
    if let Some(known) = image.broker(id).filter(|known| known.incarnation != request.incarnation_id)
        && sessions.is_valid(id, known.epoch, moment.now_ms)
    {
        let message = "Another broker is registered with that broker id. If the broker was recently restarted this \
                       should self-resolve once the heartbeat manager expires the broker's session.";
        return Err(Refusal::new(ErrorCode::DuplicateBrokerRegistration, message));
    }
    let invalid = |message: String| Err(Refusal::new(ErrorCode::InvalidRegistration, message));
    if request.is_migrating_zk_broker {
        return invalid("Controller does not support registering ZK brokers.".to_owned());
    }
    if !request.features.iter().any(|feature| feature.name == METADATA_VERSION) {
        return invalid(format!("Request features do not contain {METADATA_VERSION}"));
    }
    for (name, level) in image.features() {
        let supported = request.features.iter().find(|feature| feature.name == name);
        let range =
            supported.map_or(0..=0, |feature| feature.min_supported_version..=feature.max_supported_version);
        if !range.contains(&level) {
            let message = format!(
                "Unable to register because the broker does not support finalized version {level} of {name}. The \
                 broker wants a version between {} and {}, inclusive.",
                range.start(),
                range.end()
            );
            return Err(Refusal::new(ErrorCode::UnsupportedVersion, message));
        }
    }
    if request.log_dirs.is_empty() {
        return invalid("No directories specified in request".to_owned());
    }
    if request.log_dirs.iter().any(|dir| partitions::is_reserved(*dir)) {
        return invalid("Reserved directory ID in request".to_owned());
    }
    let unique: BTreeSet<&Uuid> = request.log_dirs.iter().collect();
    if unique.len() != request.log_dirs.len() {
        return invalid("Duplicate directory ID in request".to_owned());
    }
    let mut others = image.brokers().filter(|broker| broker.id != id);
    if let Some(other) = others.find(|broker| broker.directories.iter().any(|dir| unique.contains(dir))) {
        return invalid(format!("Broker {} is already registered with a directory of this broker", other.id));
    }
    Ok(())
}

fn registered(request: &BrokerRegistrationRequest) -> BrokerImage {
    let endpoint = |listener: &barnabas_protocol::messages::broker_registration::Listener| Endpoint {
        listener: listener.name.as_str().into(),
        host: listener.host.as_str().into(),
        port: listener.port,
        security_protocol: listener.security_protocol,
    };
    let feature = |feature: &barnabas_protocol::messages::broker_registration::Feature| FeatureRange {
        name: feature.name.as_str().into(),
        min: feature.min_supported_version,
        max: feature.max_supported_version,
    };
    BrokerImage {
        id: request.broker_id,
        incarnation: request.incarnation_id,
        epoch: -1,
        endpoints: request.listeners.iter().map(endpoint).collect(),
        features: request.features.iter().map(feature).collect(),
        rack: request.rack.as_deref().map(Into::into),
        fenced: true,
        in_controlled_shutdown: false,
        directories: request.log_dirs.clone(),
        cordoned: None,
    }
}

/// ControllerRegistration: a controller says where it is and what it supports.
pub fn register_controller(
    image: &Image,
    request: &ControllerRegistrationRequest,
) -> Decision<ControllerRegistrationResponse> {
    let lacks = |(name, level): (&str, i16)| {
        let supported = request.features.iter().find(|feature| feature.name == name)?;
        let range = supported.min_supported_version..=supported.max_supported_version;
        (!range.contains(&level)).then(|| {
            format!(
                "Unable to register controller {} because it does not support finalized version {level} of {name}.",
                request.controller_id
            )
        })
    };
    if let Some(message) = image.features().find_map(lacks) {
        let error_code = ErrorCode::UnsupportedVersion.code();
        return Decision::only(ControllerRegistrationResponse {
            error_code,
            error_message: Some(message),
            ..Default::default()
        });
    }
    let endpoint = |at: &controller_registration::Listener| Endpoint {
        listener: at.name.as_str().into(),
        host: at.host.as_str().into(),
        port: at.port,
        security_protocol: at.security_protocol,
    };
    let feature = |feature: &controller_registration::Feature| FeatureRange {
        name: feature.name.as_str().into(),
        min: feature.min_supported_version,
        max: feature.max_supported_version,
    };
    let controller = ControllerImage {
        id: request.controller_id,
        incarnation: request.incarnation_id,
        zk_migration_ready: request.zk_migration_ready,
        endpoints: request.listeners.iter().map(endpoint).collect(),
        features: request.features.iter().map(feature).collect(),
    };
    let records = vec![brokers::controller_to_record(&controller).into()];
    Decision { records, reply: ControllerRegistrationResponse { error_message: None, ..Default::default() } }
}

/// Where a broker is between coming and going.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Fenced,
    Active,
    /// It hands over what it leads.
    Leaving,
    /// It may stop.
    Gone,
}

/// BrokerHeartbeat: the broker says how far it is and what it wants; it is told where it is.
pub fn heartbeat(
    image: &Image,
    view: &View<'_>,
    sessions: &mut Sessions,
    moment: Moment,
    request: &BrokerHeartbeatRequest,
) -> Decision<Result<BrokerHeartbeatResponse, Refusal>> {
    let id = request.broker_id;
    if let Err(refusal) = check_epoch(image, id, request.broker_epoch) {
        return Decision::only(Err(refusal));
    }
    let Some(broker) = image.broker(id) else {
        return Decision::only(Err(Refusal::bare(ErrorCode::StaleBrokerEpoch)));
    };
    sessions.touch(id, broker.epoch, request.current_metadata_offset, moment.now_ms);
    let caught_up = request.current_metadata_offset >= broker.epoch;
    let before = match (broker.fenced, broker.in_controlled_shutdown) {
        (true, _) => Place::Fenced,
        (false, true) => Place::Leaving,
        (false, false) => Place::Active,
    };
    let after = next_place(image, sessions, broker, before, request, caught_up);
    let mut records = Vec::new();
    let change = || change_of(broker);
    match after {
        after if after == before => {}
        Place::Fenced | Place::Gone => records.extend(fenced(image, view, id)),
        Place::Active => {
            records.push(BrokerRegistrationChangeRecord { fenced: -1, ..change() }.into());
            records.extend(touched(image, view, Touched::Back(id)));
        }
        Place::Leaving => {
            records.push(BrokerRegistrationChangeRecord { in_controlled_shutdown: 1, ..change() }.into());
            records.extend(touched(image, view, Touched::Gone(id)));
            let written = i64::try_from(records.len()).unwrap_or(i64::MAX);
            sessions.wait_for(id, moment.next_offset.saturating_add(written).saturating_sub(1));
        }
    }
    records.extend(directories(image, view, broker, request));
    let reply = BrokerHeartbeatResponse {
        is_caught_up: caught_up,
        is_fenced: matches!(after, Place::Fenced | Place::Gone),
        should_shut_down: after == Place::Gone,
        ..Default::default()
    };
    Decision { records, reply: Ok(reply) }
}

fn change_of(broker: &BrokerImage) -> BrokerRegistrationChangeRecord {
    BrokerRegistrationChangeRecord { broker_id: broker.id, broker_epoch: broker.epoch, ..Default::default() }
}

fn next_place(
    image: &Image,
    sessions: &Sessions,
    broker: &BrokerImage,
    before: Place,
    request: &BrokerHeartbeatRequest,
    caught_up: bool,
) -> Place {
    match before {
        Place::Fenced if request.want_shut_down => Place::Gone,
        Place::Fenced if !request.want_fence && caught_up => Place::Active,
        Place::Active if request.want_fence && request.want_shut_down => Place::Gone,
        Place::Active if request.want_fence => Place::Fenced,
        Place::Active if request.want_shut_down && leads(image, broker.id) => Place::Leaving,
        Place::Active if request.want_shut_down => Place::Gone,
        Place::Leaving if !leads(image, broker.id) && sessions.may_go(image, broker.id) => Place::Gone,
        stays => stays,
    }
}

fn leads(image: &Image, broker: i32) -> bool {
    image.topics().any(|topic| topic.partitions().iter().any(|partition| partition.leader == broker))
}

/// The records that fence a broker: whatever it led finds another leader first.
pub fn fenced(image: &Image, view: &View<'_>, id: i32) -> Vec<Record> {
    let Some(broker) = image.broker(id) else { return Vec::new() };
    let mut records = touched(image, view, Touched::Gone(id));
    records.push(BrokerRegistrationChangeRecord { fenced: 1, ..change_of(broker) }.into());
    records
}

/// Directories that failed, with the leaderships in them, and directories that take no new replicas.
fn directories(
    image: &Image,
    view: &View<'_>,
    broker: &BrokerImage,
    request: &BrokerHeartbeatRequest,
) -> Vec<Record> {
    let failed = |dir: &Uuid| request.offline_log_dirs.contains(dir);
    let mut change = change_of(broker);
    let mut records = Vec::new();
    if broker.directories.iter().any(failed) {
        change.log_dirs = broker.directories.iter().copied().filter(|dir| !failed(dir)).collect();
        let in_failed = |partition: &PartitionImage| {
            partition.isr.contains(&broker.id)
                && partition.directory_of(broker.id).is_some_and(|dir| failed(&dir))
        };
        records = touched_where(image, view, Touched::Gone(broker.id), in_failed);
    }
    if request.cordoned_log_dirs.is_some() && broker.cordoned != request.cordoned_log_dirs {
        change.cordoned_log_dirs.clone_from(&request.cordoned_log_dirs);
    }
    if change != change_of(broker) {
        records.push(change.into());
    }
    records
}

/// UnregisterBroker: an administrator says that a broker will not come back.
pub fn unregister(image: &Image, view: &View<'_>, id: i32) -> Decision<Result<(), Refusal>> {
    let Some(broker) = image.broker(id) else {
        let message = format!("Broker ID {id} is not currently registered");
        return Decision::only(Err(Refusal::new(ErrorCode::BrokerIdNotRegistered, message)));
    };
    let mut records = touched(image, view, Touched::Lost(id));
    records.push(UnregisterBrokerRecord { broker_id: id, broker_epoch: broker.epoch }.into());
    Decision { records, reply: Ok(()) }
}

/// Fences the brokers whose sessions are over.
pub fn expire(image: &Image, view: &View<'_>, sessions: &mut Sessions, now_ms: u64) -> Decision<Vec<i32>> {
    // One at a time: the next decision sees what this one changed.
    let over: Vec<i32> = sessions.over(image, now_ms).into_iter().take(1).collect();
    let records = over.iter().flat_map(|id| fenced(image, view, *id)).collect();
    for id in &over {
        sessions.forget(*id);
    }
    Decision { records, reply: over }
}

#[cfg(test)]
mod registration_test;
