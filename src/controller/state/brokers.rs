//! Registrations of brokers and controllers.

use std::sync::Arc;

use barnabas_protocol::messages::records::metadata::{
    BrokerEndpoint, BrokerFeature, BrokerRegistrationChangeRecord, ControllerEndpoint, ControllerFeature,
    RegisterBrokerRecord, RegisterControllerRecord,
};

use super::super::image::{BrokerImage, Changes, ControllerImage, Endpoint, FeatureRange, Image};
use super::ReplayError;

pub(super) fn replay(image: &mut Image, changes: &mut Changes, record: &RegisterBrokerRecord) {
    changes.nodes = true;
    let endpoints = record.end_points.iter().map(|endpoint| Endpoint {
        listener: endpoint.name.as_str().into(),
        host: endpoint.host.as_str().into(),
        port: endpoint.port,
        security_protocol: endpoint.security_protocol,
    });
    let features = record.features.iter().map(|feature| FeatureRange {
        name: feature.name.as_str().into(),
        min: feature.min_supported_version,
        max: feature.max_supported_version,
    });
    let broker = BrokerImage {
        id: record.broker_id,
        incarnation: record.incarnation_id,
        epoch: record.broker_epoch,
        endpoints: endpoints.collect(),
        features: features.collect(),
        rack: record.rack.as_deref().map(Into::into),
        fenced: record.fenced,
        in_controlled_shutdown: record.in_controlled_shutdown,
        directories: record.log_dirs.clone(),
        cordoned: record.cordoned_log_dirs.clone(),
    };
    image.brokers.insert_mut(broker.id, Arc::new(broker));
}

pub(super) fn replay_unregister(image: &mut Image, changes: &mut Changes, id: i32) {
    changes.nodes |= image.brokers.remove_mut(&id);
}

pub(super) fn replay_change(
    image: &mut Image,
    changes: &mut Changes,
    record: &BrokerRegistrationChangeRecord,
) -> Result<(), ReplayError> {
    let known = image.brokers.get_mut(&record.broker_id);
    let broker = Arc::make_mut(known.ok_or(ReplayError::UnknownBroker(record.broker_id))?);
    changes.nodes = true;
    match record.fenced {
        -1 => broker.fenced = false,
        1 => broker.fenced = true,
        _ => {}
    }
    if record.in_controlled_shutdown == 1 {
        broker.in_controlled_shutdown = true;
    }
    if !record.log_dirs.is_empty() {
        broker.directories.clone_from(&record.log_dirs);
    }
    if record.cordoned_log_dirs.is_some() {
        broker.cordoned.clone_from(&record.cordoned_log_dirs);
    }
    Ok(())
}

pub(super) fn replay_controller(image: &mut Image, changes: &mut Changes, record: &RegisterControllerRecord) {
    changes.nodes = true;
    let endpoints = record.end_points.iter().map(|endpoint| Endpoint {
        listener: endpoint.name.as_str().into(),
        host: endpoint.host.as_str().into(),
        port: endpoint.port,
        security_protocol: endpoint.security_protocol,
    });
    let features = record.features.iter().map(|feature| FeatureRange {
        name: feature.name.as_str().into(),
        min: feature.min_supported_version,
        max: feature.max_supported_version,
    });
    let controller = ControllerImage {
        id: record.controller_id,
        incarnation: record.incarnation_id,
        zk_migration_ready: record.zk_migration_ready,
        endpoints: endpoints.collect(),
        features: features.collect(),
    };
    image.controllers.insert_mut(controller.id, Arc::new(controller));
}

pub(super) fn replay_unregister_controller(image: &mut Image, changes: &mut Changes, id: i32) {
    changes.nodes |= image.controllers.remove_mut(&id);
}

/// The record that registers a broker as it is.
pub fn to_record(broker: &BrokerImage) -> RegisterBrokerRecord {
    RegisterBrokerRecord {
        broker_id: broker.id,
        is_migrating_zk_broker: false,
        incarnation_id: broker.incarnation,
        broker_epoch: broker.epoch,
        end_points: broker
            .endpoints
            .iter()
            .map(|endpoint| BrokerEndpoint {
                name: endpoint.listener.to_string(),
                host: endpoint.host.to_string(),
                port: endpoint.port,
                security_protocol: endpoint.security_protocol,
            })
            .collect(),
        features: broker
            .features
            .iter()
            .map(|feature| BrokerFeature {
                name: feature.name.to_string(),
                min_supported_version: feature.min,
                max_supported_version: feature.max,
            })
            .collect(),
        rack: broker.rack.as_deref().map(str::to_owned),
        fenced: broker.fenced,
        in_controlled_shutdown: broker.in_controlled_shutdown,
        log_dirs: broker.directories.clone(),
        cordoned_log_dirs: broker.cordoned.clone(),
    }
}

/// The record that registers a controller as it is.
pub fn controller_to_record(controller: &ControllerImage) -> RegisterControllerRecord {
    RegisterControllerRecord {
        controller_id: controller.id,
        incarnation_id: controller.incarnation,
        zk_migration_ready: controller.zk_migration_ready,
        end_points: controller
            .endpoints
            .iter()
            .map(|endpoint| ControllerEndpoint {
                name: endpoint.listener.to_string(),
                host: endpoint.host.to_string(),
                port: endpoint.port,
                security_protocol: endpoint.security_protocol,
            })
            .collect(),
        features: controller
            .features
            .iter()
            .map(|feature| ControllerFeature {
                name: feature.name.to_string(),
                min_supported_version: feature.min,
                max_supported_version: feature.max,
            })
            .collect(),
    }
}
