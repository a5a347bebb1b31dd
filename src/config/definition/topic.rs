//! The keys of a topic.

use super::rule::Emptiness::MayBeEmpty;
use super::rule::Rule::{Any, AtLeast, Between, BetweenF, GzipLevel, Items, OneOf, ThrottledReplicas};
use super::{Effect, Key, Kind, Preset, Update, keys};

pub(super) static KEYS: &[Key] = keys! { of_broker:
    "segment.bytes": Int = "1073741824", AtLeast(1_048_576), Some("log.segment.bytes"), Built,
        "Largest segment; then a new one begins.";
    "segment.ms": Long = "604800000", AtLeast(1), Some("log.roll.ms"), Built,
        "Time after which a new segment begins.";
    "segment.jitter.ms": Long = "0", AtLeast(0), Some("log.roll.jitter.ms"), Built,
        "Most that chance takes off that time.";
    "segment.index.bytes": Int = "10485760", AtLeast(4), Some("log.index.size.max.bytes"), Built,
        "Largest offset index of a segment.";
    "flush.messages": Long = "9223372036854775807",
        AtLeast(1), Some("log.flush.interval.messages"), Built,
        "Records after which a partition is flushed to disk.";
    "flush.ms": Long = "9223372036854775807", AtLeast(0), Some("log.flush.interval.ms"), Built,
        "Time after which a partition is flushed to disk.";
    "retention.bytes": Long = "-1", Any, Some("log.retention.bytes"), Built,
        "How large a partition may grow before old segments go; -1 means without limit.";
    "retention.ms": Long = "604800000", AtLeast(-1), Some("log.retention.ms"), Built,
        "How long records are kept; -1 means for ever.";
    "max.message.bytes": Int = "1048588", AtLeast(0), Some("message.max.bytes"), Built,
        "Largest record batch, compressed.";
    "max.decompressed.message.bytes": Int = "2147483639",
        Between(1, 2_147_483_639), Some("max.decompressed.message.bytes"), Built,
        "What a compressed batch may decompress to.";
    "index.interval.bytes": Int = "4096", AtLeast(0), Some("log.index.interval.bytes"), Built,
        "Bytes between two index entries.";
    "delete.retention.ms": Long = "86400000", AtLeast(0), Some("log.cleaner.delete.retention.ms"), Built,
        "How long tombstones stay after compaction.";
    "min.compaction.lag.ms": Long = "0", AtLeast(0), Some("log.cleaner.min.compaction.lag.ms"), Built,
        "How long a record is safe from compaction.";
    "max.compaction.lag.ms": Long = "9223372036854775807",
        AtLeast(1), Some("log.cleaner.max.compaction.lag.ms"), Built,
        "After which time a record must have been compacted.";
    "file.delete.delay.ms": Long = "60000", AtLeast(0), Some("log.segment.delete.delay.ms"), Built,
        "How long a deleted file stays on disk.";
    "min.cleanable.dirty.ratio": Double = "0.5",
        BetweenF(0.0, 1.0), Some("log.cleaner.min.cleanable.ratio"), Built,
        "Share of not yet compacted bytes from which a log is compacted.";
    "cleanup.policy": List = "delete",
        Items(&["compact", "delete"], MayBeEmpty), Some("log.cleanup.policy"), Built,
        "What happens to old segments: delete, compact, both or nothing.";
    "unclean.leader.election.enable": Boolean = "false",
        Any, Some("unclean.leader.election.enable"), NoMeaning,
        "Whether a replica that may lack data can become leader; with one replica there is none.";
    "min.insync.replicas": Int = "1", AtLeast(1), Some("min.insync.replicas"), Built,
        "Replicas that must have a record before acks=all is answered.";
    "compression.type": String = "producer",
        OneOf(&["uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"]), Some("compression.type"), Built,
        "Codec of stored batches; producer keeps what arrives.";
    "compression.gzip.level": Int = "-1", GzipLevel, Some("compression.gzip.level"), Built,
        "gzip level when the broker compresses; -1 is the library's default.";
    "compression.lz4.level": Int = "9", Between(1, 17), Some("compression.lz4.level"), Built,
        "lz4 level when the broker compresses.";
    "compression.zstd.level": Int = "3", Between(-131_072, 22), Some("compression.zstd.level"), Built,
        "zstd level when the broker compresses.";
    "preallocate": Boolean = "false", Any, Some("log.preallocate"), Built,
        "Whether a new segment's file is made at full size.";
    "message.timestamp.type": String = "CreateTime",
        OneOf(&["CreateTime", "LogAppendTime"]), Some("log.message.timestamp.type"), Built,
        "Whether records carry the producer's time or the time of their append.";
    "message.timestamp.before.max.ms": Long = "9223372036854775807",
        AtLeast(0), Some("log.message.timestamp.before.max.ms"), Built,
        "How far in the past a record's timestamp may be.";
    "message.timestamp.after.max.ms": Long = "3600000",
        AtLeast(0), Some("log.message.timestamp.after.max.ms"), Built,
        "How far in the future a record's timestamp may be.";
    "leader.replication.throttled.replicas": List = "", ThrottledReplicas, None, NoMeaning,
        "Replicas, as partition:broker, whose leaders send at the throttled rate; * means all.";
    "follower.replication.throttled.replicas": List = "", ThrottledReplicas, None, NoMeaning,
        "Replicas, as partition:broker, that fetch at the throttled rate; * means all.";
    "remote.storage.enable": Boolean = "false", Any, None, NotBuilt,
        "Whether old segments move to remote storage.";
    "local.retention.ms": Long = "-2", AtLeast(-2), Some("log.local.retention.ms"), NoMeaning,
        "How long segments stay on the local disk once copied; -2 means as long as retention says.";
    "local.retention.bytes": Long = "-2", AtLeast(-2), Some("log.local.retention.bytes"), NoMeaning,
        "How many bytes stay on the local disk once copied; -2 means as many as retention says.";
    "remote.log.copy.disable": Boolean = "false", Any, None, NotBuilt,
        "Whether copying to remote storage is halted.";
    "remote.copy.lag.ms": Long = "0", AtLeast(-1), Some("log.remote.copy.lag.ms"), NotBuilt,
        "How old a sealed segment gets before it is copied; -1 means as old as local retention allows.";
    "remote.copy.lag.bytes": Long = "-1", AtLeast(-1), Some("log.remote.copy.lag.bytes"), NotBuilt,
        "How many bytes follow a segment before it is copied; -1 means as many as local retention allows.";
    "remote.log.delete.on.disable": Boolean = "false", Any, None, NotBuilt,
        "Whether remote data goes when remote storage is turned off.";
    "errors.deadletterqueue.group.enable": Boolean = "false", Any, None, NotBuilt,
        "Whether share groups may write dead letters to this topic.";
    "internal.segment.bytes": Int = null, Any, None, NotBuilt, internal,
        "For tests: segment size without a lower bound.";
};
