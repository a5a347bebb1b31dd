//! The keys of a group.

use super::rule::Emptiness::MayBeEmpty;
use super::rule::Rule::{Any, AtLeast, Items, OffsetReset, OneOf};
use super::{Effect, Key, Kind, Preset, Update, keys};

pub(super) static KEYS: &[Key] = keys! { of_broker:
    "consumer.session.timeout.ms": Int = "45000",
        AtLeast(1), Some("group.consumer.session.timeout.ms"), Built,
        "How long a member may be silent before it is removed.";
    "consumer.heartbeat.interval.ms": Int = "5000",
        AtLeast(1), Some("group.consumer.heartbeat.interval.ms"), Built,
        "How often members report.";
    "consumer.assignment.interval.ms": Int = "1000",
        AtLeast(0), Some("group.consumer.assignment.interval.ms"), Built,
        "Shortest time between two assignments of the group.";
    "consumer.assignor.offload.enable": Boolean = "true",
        Any, Some("group.consumer.assignor.offload.enable"), NoMeaning, internal,
        "Whether assignments are computed beside the coordinator.";
    "share.session.timeout.ms": Int = "45000", AtLeast(1), Some("group.share.session.timeout.ms"), NotBuilt,
        "How long a member of a share group may be silent before it is removed.";
    "share.heartbeat.interval.ms": Int = "5000",
        AtLeast(1), Some("group.share.heartbeat.interval.ms"), NotBuilt,
        "How often members of a share group report.";
    "share.record.lock.duration.ms": Int = "30000",
        AtLeast(1000), Some("group.share.record.lock.duration.ms"), NotBuilt,
        "How long a delivered record belongs to its member.";
    "share.delivery.count.limit": Int = "5", AtLeast(2), Some("group.share.delivery.count.limit"), NotBuilt,
        "How often a record is delivered before it is given up.";
    "share.partition.max.record.locks": Int = "2000",
        AtLeast(100), Some("group.share.partition.max.record.locks"), NotBuilt,
        "Most records of a partition that are out for delivery.";
    "share.auto.offset.reset": String = "latest", OffsetReset, None, NotBuilt,
        "Where a share group begins: latest, earliest or by_duration.";
    "share.isolation.level": String = "read_uncommitted",
        OneOf(&["read_committed", "read_uncommitted"]), None, NotBuilt,
        "Whether records of open and aborted transactions are delivered.";
    "share.renew.acknowledge.enable": Boolean = "true", Any, None, NotBuilt,
        "Whether a member may renew its hold on a record.";
    "share.assignment.interval.ms": Int = "1000",
        AtLeast(0), Some("group.share.assignment.interval.ms"), NotBuilt,
        "Shortest time between two assignments of the share group.";
    "share.assignor.offload.enable": Boolean = "true",
        Any, Some("group.share.assignor.offload.enable"), NotBuilt, internal,
        "Whether share assignments are computed beside the coordinator.";
    "streams.session.timeout.ms": Int = "45000",
        AtLeast(1), Some("group.streams.session.timeout.ms"), NotBuilt,
        "How long a member of a streams group may be silent before it is removed.";
    "streams.heartbeat.interval.ms": Int = "5000",
        AtLeast(1), Some("group.streams.heartbeat.interval.ms"), NotBuilt,
        "How often members of a streams group report.";
    "streams.num.standby.replicas": Int = "0",
        AtLeast(0), Some("group.streams.num.standby.replicas"), NotBuilt,
        "Standby copies of each task.";
    "streams.initial.rebalance.delay.ms": Int = "3000",
        AtLeast(0), Some("group.streams.initial.rebalance.delay.ms"), NotBuilt,
        "How long an empty streams group waits for more members.";
    "streams.assignment.interval.ms": Int = "1000",
        AtLeast(0), Some("group.streams.assignment.interval.ms"), NotBuilt,
        "Shortest time between two assignments of the streams group.";
    "streams.assignor.offload.enable": Boolean = "true",
        Any, Some("group.streams.assignor.offload.enable"), NotBuilt, internal,
        "Whether task assignments are computed beside the coordinator.";
    "streams.task.offset.interval.ms": Int = "60000",
        AtLeast(1), Some("group.streams.task.offset.interval.ms"), NotBuilt, internal,
        "How often members report the offsets of their tasks.";
    "streams.num.warmup.replicas": Int = "2",
        AtLeast(0), Some("group.streams.num.warmup.replicas"), NotBuilt, internal,
        "Warm-up copies of tasks.";
    "streams.rack.aware.assignment.tags": List = "",
        Items(&[], MayBeEmpty), Some("group.streams.rack.aware.assignment.tags"), NotBuilt,
        "Client tags over which standby copies are spread.";
    "streams.acceptable.recovery.lag": Long = "10000",
        AtLeast(0), Some("group.streams.acceptable.recovery.lag"), NotBuilt, internal,
        "Lag in offsets up to which a copy counts as caught up.";
    "streams.assignor.name": String = null, Any, Some("group.streams.assignors"), NotBuilt,
        "Which assignor distributes the tasks.";
    "errors.deadletterqueue.topic.name": String = "", Any, None, NotBuilt,
        "Topic to which the group's dead letters go.";
    "errors.deadletterqueue.copy.record.enable": Boolean = "false", Any, None, NotBuilt,
        "Whether a dead letter carries the record itself.";
};
