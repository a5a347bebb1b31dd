//! The keys of a broker.

use super::rule::Emptiness::{MayBeEmpty, NotEmpty};
use super::rule::Rule::{
    Any, AtLeast, Between, BetweenF, GzipLevel, HostPorts, Items, NonEmpty, OneOf, OneOfAnyCase, Voters,
};
use super::{Effect, Key, Kind, Preset, Update, keys};

pub(super) static KEYS: &[Key] = keys! { broker:
    "remote.log.storage.system.enable": Boolean = "false", Any, ReadOnly, NotBuilt,
        "Whether old segments may move to remote storage.";
    "remote.log.storage.manager.impl.prefix": String = "rsm.config.", NonEmpty, ReadOnly, NotBuilt,
        "Prefix of the keys that are handed to the remote storage plug-in.";
    "remote.log.metadata.manager.impl.prefix": String = "rlmm.config.", NonEmpty, ReadOnly, NotBuilt,
        "Prefix of the keys that are handed to the remote metadata plug-in.";
    "remote.log.storage.manager.class.name": String = null, NonEmpty, ReadOnly, NotBuilt,
        "Class of the remote storage plug-in.";
    "remote.log.storage.manager.class.path": String = null, Any, ReadOnly, NotBuilt,
        "Where the classes of the remote storage plug-in are.";
    "remote.log.metadata.manager.class.name": String =
        "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager",
        NonEmpty, ReadOnly, NotBuilt,
        "Class that keeps the remote segments' metadata.";
    "remote.log.metadata.manager.class.path": String = null, Any, ReadOnly, NotBuilt,
        "Where the classes of the remote metadata plug-in are.";
    "remote.log.metadata.manager.listener.name": String = null, NonEmpty, ReadOnly, NotBuilt,
        "Listener through which the remote metadata plug-in connects.";
    "remote.log.metadata.custom.metadata.max.bytes": Int = "128", AtLeast(0), ReadOnly, NotBuilt,
        "Most bytes of a plug-in's own metadata per remote segment.";
    "remote.log.index.file.cache.total.size.bytes": Long = "1073741824", AtLeast(1), ClusterWide, NotBuilt,
        "Disk space for indexes of remote segments.";
    "remote.log.index.file.cache.ttl.ms": Long = "900000", AtLeast(-1), ReadOnly, NotBuilt, internal,
        "How long an unused index of a remote segment stays cached.";
    "remote.log.manager.thread.pool.size": Int = "2", AtLeast(1), ReadOnly, NotBuilt,
        "Threads that manage remote segments.";
    "remote.log.manager.copier.thread.pool.size": Int = "10", AtLeast(1), ClusterWide, NotBuilt,
        "Threads that copy segments to remote storage.";
    "remote.log.manager.expiration.thread.pool.size": Int = "10", AtLeast(1), ClusterWide, NotBuilt,
        "Threads that delete expired remote segments.";
    "remote.log.manager.follower.thread.pool.size": Int = "2", AtLeast(1), ClusterWide, NotBuilt,
        "Threads that do a follower's remote work.";
    "remote.log.manager.task.interval.ms": Long = "30000", AtLeast(1), ReadOnly, NotBuilt,
        "How often remote tasks run.";
    "remote.log.manager.task.retry.backoff.ms": Long = "500", AtLeast(1), ReadOnly, NotBuilt, internal,
        "First pause before a failed remote task runs again.";
    "remote.log.manager.task.retry.backoff.max.ms": Long = "30000", AtLeast(1), ReadOnly, NotBuilt, internal,
        "Longest pause before a failed remote task runs again.";
    "remote.log.manager.task.retry.jitter": Double = "0.2", BetweenF(0.0, 0.5), ReadOnly, NotBuilt, internal,
        "Share of chance in the pause of a failed remote task.";
    "remote.log.reader.threads": Int = "10", AtLeast(1), ClusterWide, NotBuilt,
        "Threads that read from remote storage.";
    "remote.log.reader.max.pending.tasks": Int = "100", AtLeast(1), ReadOnly, NotBuilt,
        "Most remote reads that may wait.";
    "log.local.retention.ms": Long = "-2", AtLeast(-2), ClusterWide, NoMeaning,
        "How long segments stay on the local disk once copied; -2 means as long as retention says.";
    "log.local.retention.bytes": Long = "-2", AtLeast(-2), ClusterWide, NoMeaning,
        "How many bytes stay on the local disk once copied; -2 means as many as retention says.";
    "log.remote.copy.lag.ms": Long = "0", AtLeast(-1), ClusterWide, NotBuilt,
        "How old a sealed segment gets before it is copied; -1 means as old as local retention allows.";
    "log.remote.copy.lag.bytes": Long = "-1", AtLeast(-1), ClusterWide, NotBuilt,
        "How many bytes follow a segment before it is copied; -1 means as many as local retention allows.";
    "remote.log.manager.copy.max.bytes.per.second": Long = "9223372036854775807",
        AtLeast(1), ClusterWide, NotBuilt,
        "Upload limit to remote storage.";
    "remote.log.manager.copy.quota.window.num": Int = "11", AtLeast(1), ReadOnly, NotBuilt,
        "Windows over which the upload rate is measured.";
    "remote.log.manager.copy.quota.window.size.seconds": Int = "1", AtLeast(1), ReadOnly, NotBuilt,
        "Length of such a window.";
    "remote.log.manager.fetch.max.bytes.per.second": Long = "9223372036854775807",
        AtLeast(1), ClusterWide, NotBuilt,
        "Download limit from remote storage.";
    "remote.log.manager.fetch.quota.window.num": Int = "11", AtLeast(1), ReadOnly, NotBuilt,
        "Windows over which the download rate is measured.";
    "remote.log.manager.fetch.quota.window.size.seconds": Int = "1", AtLeast(1), ReadOnly, NotBuilt,
        "Length of such a window.";
    "remote.fetch.max.wait.ms": Int = "500", AtLeast(1), ClusterWide, NotBuilt,
        "How long a fetch waits for remote data.";
    "remote.list.offsets.request.timeout.ms": Long = "30000", AtLeast(1), ClusterWide, NotBuilt,
        "How long an offset lookup waits for remote data.";
    "broker.id": Int = "-1", Any, ReadOnly, Built,
        "This node's id; the older name of node.id.";
    "message.max.bytes": Int = "1048588", AtLeast(0), ClusterWide, Built,
        "Largest record batch, compressed, of a topic that does not set max.message.bytes.";
    "max.decompressed.message.bytes": Int = "2147483639", Between(1, 2_147_483_639), ClusterWide, Built,
        "What a compressed batch may decompress to.";
    "num.io.threads": Int = "8", AtLeast(1), ClusterWide, NoMeaning,
        "Request threads; here requests run where they are read.";
    "num.replica.alter.log.dirs.threads": Int = null, Any, ReadOnly, NoMeaning,
        "Threads that move replicas between directories.";
    "background.threads": Int = "10", AtLeast(1), ClusterWide, NoMeaning,
        "Threads for chores; here a runtime shares them.";
    "request.timeout.ms": Int = "30000", Any, ReadOnly, NotBuilt,
        "How long a request of this node to another may take.";
    "socket.connection.setup.timeout.ms": Long = "10000", Any, ReadOnly, NotBuilt,
        "First time limit for connecting to another node.";
    "socket.connection.setup.timeout.max.ms": Long = "30000", Any, ReadOnly, NotBuilt,
        "Longest time limit for connecting to another node.";
    "config.providers": List = "", Items(&[], MayBeEmpty), ClusterWide, NoMeaning,
        "Names of plug-ins that fill variables into the settings.";
    "authorizer.class.name": String = "", Any, ReadOnly, Protective,
        "Class that decides who may do what; empty means everybody may do everything.";
    "early.start.listeners": List = null, Items(&[], MayBeEmpty), ReadOnly, NoMeaning,
        "Listeners that open before authorization is ready.";
    "broker.rack": String = null, Any, ReadOnly, Built,
        "Where this broker stands, so that replicas can be spread.";
    "controlled.shutdown.enable": Boolean = "true", Any, ReadOnly, Built,
        "Whether leaderships move away before the broker stops.";
    "delete.topic.enable": Boolean = "true", Any, ReadOnly, Built,
        "Whether topics may be deleted.";
    "compression.type": String = "producer",
        OneOf(&["uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"]), ClusterWide, Built,
        "Codec of stored batches; producer keeps what arrives.";
    "compression.gzip.level": Int = "-1", GzipLevel, ClusterWide, Built,
        "gzip level when the broker compresses; -1 is the library's default.";
    "compression.lz4.level": Int = "9", Between(1, 17), ClusterWide, Built,
        "lz4 level when the broker compresses.";
    "compression.zstd.level": Int = "3", Between(-131_072, 22), ClusterWide, Built,
        "zstd level when the broker compresses.";
    "max.incremental.fetch.session.cache.slots": Int = "1000", AtLeast(0), ReadOnly, Built,
        "How many incremental fetch sessions are kept.";
    "fetch.max.bytes": Int = "57671680", AtLeast(1024), ReadOnly, Built,
        "Most bytes in one fetch answer.";
    "max.request.partition.size.limit": Int = "2000", AtLeast(1), ReadOnly, Built,
        "Most partitions in one DescribeTopicPartitions answer.";
    "unstable.api.versions.enable": Boolean = "false", Any, ReadOnly, NoMeaning, internal,
        "Whether unreleased protocol versions are offered.";
    "unstable.feature.versions.enable": Boolean = "false", Any, ReadOnly, NoMeaning, internal,
        "Whether unreleased feature levels are offered.";
    "process.roles": List = required, Items(&["broker", "controller"], NotEmpty), ReadOnly, Built,
        "What this process is: broker, controller or both.";
    "node.id": Int = required, AtLeast(0), ReadOnly, Built,
        "This node's id.";
    "initial.broker.registration.timeout.ms": Int = "60000", Any, ReadOnly, Built,
        "How long the first registration may take before the broker gives up.";
    "broker.heartbeat.interval.ms": Int = "2000", Any, ReadOnly, Built,
        "How often a broker reports to the controller.";
    "broker.session.timeout.ms": Int = "9000", Any, ReadOnly, Built,
        "How long a broker may be silent before it counts as gone.";
    "broker.disconnect.grace.ms": Long = "500", AtLeast(-1), ReadOnly, Built, internal,
        "How long a broker whose connection to the controller was closed may take to come back before it counts as \
         gone; -1 leaves it to the session's timeout, as Kafka does. A key of Barnabas' own.";
    "controller.listener.names": List = required, Items(&[], NotEmpty), ReadOnly, Built,
        "Listeners that serve controllers only.";
    "sasl.mechanism.controller.protocol": String = "GSSAPI", Any, ReadOnly, Protective,
        "SASL mechanism towards controllers.";
    "controller.performance.sample.period.ms": Long = "60000", AtLeast(100), ReadOnly, NoMeaning, internal,
        "How often controller timings are summed up.";
    "controller.performance.always.log.threshold.ms": Long = "2000",
        AtLeast(0), ReadOnly, NoMeaning, internal,
        "From which duration a controller event is always logged.";
    "server.max.startup.time.ms": Long = "9223372036854775807", AtLeast(0), ReadOnly, NoMeaning, internal,
        "How long a start may take.";
    "metadata.log.max.record.bytes.between.snapshots": Long = "20971520", AtLeast(1), ReadOnly, Built,
        "Bytes of metadata records after which a snapshot is written.";
    "metadata.log.max.snapshot.interval.ms": Long = "3600000", AtLeast(0), ReadOnly, NotBuilt,
        "Time after which a snapshot is written if anything changed; 0 means never.";
    "metadata.log.dir": String = null, Any, ReadOnly, Built,
        "Directory of the metadata log; the first of log.dirs if not set.";
    "metadata.log.segment.bytes": Int = "1073741824", AtLeast(8_388_608), ReadOnly, Built,
        "Largest segment of the metadata log.";
    "metadata.log.segment.ms": Long = "604800000", Any, ReadOnly, NotBuilt,
        "Time after which a new segment of the metadata log begins.";
    "metadata.max.retention.bytes": Long = "104857600", Any, ReadOnly, NotBuilt,
        "How large metadata log and snapshots together may grow.";
    "metadata.max.retention.ms": Long = "604800000", Any, ReadOnly, NotBuilt,
        "How long metadata segments and snapshots are kept.";
    "metadata.max.idle.interval.ms": Int = "500", AtLeast(0), ReadOnly, NotBuilt,
        "How often an idle controller writes a no-op; 0 means never.";
    "internal.metadata.log.segment.bytes": Int = null, Any, ReadOnly, NoMeaning, internal,
        "For tests: segment size of the metadata log without a lower bound.";
    "internal.metadata.max.batch.size.in.bytes": Int = "8388608", Any, ReadOnly, NoMeaning, internal,
        "For tests: largest batch in the metadata log.";
    "internal.metadata.delete.delay.millis": Long = "60000", Any, ReadOnly, NoMeaning, internal,
        "For tests: how long deleted metadata files linger.";
    "listeners": List = "PLAINTEXT://:9092", Items(&[], NotEmpty), PerBroker, Built,
        "Where the broker listens: name://host:port, several separated by commas.";
    "advertised.listeners": List = null, Items(&[], NotEmpty), ReadOnly, Built,
        "What clients are told to connect to; the listeners themselves if not set.";
    "listener.security.protocol.map": String =
        "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
        Any, PerBroker, Built,
        "Which security protocol each listener name speaks.";
    "socket.send.buffer.bytes": Int = "102400", Any, ReadOnly, Built,
        "SO_SNDBUF of the sockets; -1 leaves it to the system.";
    "socket.receive.buffer.bytes": Int = "102400", Any, ReadOnly, Built,
        "SO_RCVBUF of the sockets; -1, and Kafka's default, leave it to the system, which lets it grow.";
    "socket.request.max.bytes": Int = "104857600", AtLeast(1), ReadOnly, Built,
        "Longest request.";
    "socket.listen.backlog.size": Int = "50", AtLeast(1), ReadOnly, Built,
        "How many connections may wait to be accepted.";
    "max.connections.per.ip": Int = "2147483647", AtLeast(0), ClusterWide, Built,
        "Most connections from one address.";
    "max.connections.per.ip.overrides": String = "", Any, ClusterWide, Built,
        "Other limits for named hosts or addresses: host:limit, separated by commas.";
    "max.connections": Int = "2147483647", AtLeast(0), ClusterWide, Built,
        "Most connections of the whole broker.";
    "max.connection.creation.rate": Int = "2147483647", AtLeast(0), ClusterWide, NotBuilt,
        "Most new connections a second.";
    "connections.max.idle.ms": Long = "600000", Any, ReadOnly, Built,
        "How long a silent connection stays open.";
    "connection.failed.authentication.delay.ms": Int = "100", AtLeast(0), ReadOnly, NotBuilt,
        "How long the close is put off after a failed authentication.";
    "queued.max.requests": Int = "500", AtLeast(1), ReadOnly, NoMeaning,
        "How many requests may wait for a thread; here bytes are counted instead.";
    "queued.max.request.bytes": Long = "-1", Any, ReadOnly, Built,
        "Memory for requests in progress; -1 means a quarter of the machine's.";
    "num.network.threads": Int = "3", AtLeast(1), ClusterWide, NoMeaning,
        "Network threads; here the runtime has one per core.";
    "controller.socket.timeout.ms": Int = "30000", Any, ReadOnly, NotBuilt,
        "Time limit of a request to the controller.";
    "default.replication.factor": Int = "1", Any, ReadOnly, Built,
        "Replicas of topics that are made without saying how many.";
    "replica.lag.time.max.ms": Long = "30000", Any, ReadOnly, Built,
        "How long a follower may lag before it leaves the in-sync replicas.";
    "replica.socket.timeout.ms": Int = "30000", Any, ReadOnly, Built,
        "Time limit of a follower's fetch.";
    "replica.socket.receive.buffer.bytes": Int = "65536", Any, ReadOnly, NotBuilt,
        "SO_RCVBUF of replication sockets.";
    "replica.fetch.max.bytes": Int = "1048576", AtLeast(0), ReadOnly, Built,
        "Bytes a follower asks for per partition.";
    "replica.fetch.wait.max.ms": Int = "500", Any, ReadOnly, Built,
        "How long a follower's fetch may wait for data.";
    "replica.fetch.backoff.ms": Int = "1000", AtLeast(0), ReadOnly, Built,
        "Pause after a failed fetch of a follower.";
    "replica.fetch.min.bytes": Int = "1", Any, ReadOnly, Built,
        "Bytes for which a follower's fetch waits.";
    "replica.fetch.response.max.bytes": Int = "10485760", AtLeast(0), ReadOnly, Built,
        "Most bytes in one answer to a follower.";
    "num.replica.fetchers": Int = "1", AtLeast(1), ClusterWide, Built,
        "Connections per leader through which a follower fetches.";
    "replica.high.watermark.checkpoint.interval.ms": Long = "5000", Any, ReadOnly, Built,
        "How often high watermarks are written to disk.";
    "fetch.purgatory.purge.interval.requests": Int = "1000", Any, ReadOnly, NoMeaning,
        "When finished waits of fetches are swept; here they leave at once.";
    "producer.purgatory.purge.interval.requests": Int = "1000", Any, ReadOnly, NoMeaning,
        "When finished waits of produces are swept; here they leave at once.";
    "delete.records.purgatory.purge.interval.requests": Int = "1", Any, ReadOnly, NoMeaning,
        "When finished waits of DeleteRecords are swept; here they leave at once.";
    "auto.leader.rebalance.enable": Boolean = "true", Any, ReadOnly, Built,
        "Whether leaderships return to preferred replicas by themselves.";
    "leader.imbalance.check.interval.seconds": Long = "300", AtLeast(1), ReadOnly, Built,
        "How often that is looked at.";
    "unclean.leader.election.interval.ms": Long = "300000", AtLeast(1), ReadOnly, NotBuilt, internal,
        "How often unclean elections are looked for.";
    "unclean.leader.election.enable": Boolean = "false", Any, ClusterWide, Built,
        "Whether a replica that may lack data can become leader; with one replica there is none.";
    "security.inter.broker.protocol": String = "PLAINTEXT",
        OneOf(&["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]), ReadOnly, Protective,
        "Security protocol between brokers, if no listener is named for it.";
    "inter.broker.listener.name": String = null, Any, ReadOnly, Built,
        "Listener through which brokers speak to each other.";
    "replica.selector.class": String = null, Any, ReadOnly, NotBuilt,
        "Class that picks the replica a consumer reads from.";
    "follower.fetch.last.tiered.offset.enable": Boolean = "false", Any, ClusterWide, NotBuilt,
        "Whether a new follower starts at the last tiered offset.";
    "group.coordinator.rebalance.protocols": List = "classic,consumer,streams",
        Items(&["consumer", "classic", "share", "streams"], NotEmpty), ReadOnly, Built,
        "Which group protocols are served.";
    "group.coordinator.threads": Int = "4", AtLeast(1), ReadOnly, NoMeaning,
        "Coordinator threads; here coordinators run where requests do.";
    "group.coordinator.background.threads": Int = "2", AtLeast(1), ReadOnly, NoMeaning,
        "Threads for a coordinator's long work.";
    "group.coordinator.append.linger.ms": Int = "-1", AtLeast(-1), ReadOnly, NoMeaning,
        "How long a coordinator gathers writes; here each is written at once.";
    "offsets.commit.timeout.ms": Int = "5000", AtLeast(1), ReadOnly, NoMeaning,
        "How long a commit may wait for its replicas.";
    "offsets.load.buffer.size": Int = "5242880", AtLeast(1), ReadOnly, NoMeaning,
        "Bytes that are read at once while committed offsets load.";
    "offsets.topic.replication.factor": Short = "3", AtLeast(1), ReadOnly, Built,
        "Replicas of __consumer_offsets.";
    "offsets.topic.num.partitions": Int = "50", AtLeast(1), ReadOnly, Built,
        "Partitions of __consumer_offsets; not to be changed later.";
    "offsets.topic.segment.bytes": Int = "104857600", AtLeast(1), ReadOnly, Built,
        "Segment size of __consumer_offsets.";
    "offsets.topic.compression.codec": Int = "0", Any, ReadOnly, NotBuilt,
        "Codec of __consumer_offsets by number; 0 means none.";
    "group.coordinator.cached.buffer.max.bytes": Int = "1048588", AtLeast(524_288), ClusterWide, NoMeaning,
        "Largest write buffer a group coordinator keeps for reuse.";
    "offset.metadata.max.bytes": Int = "4096", Any, ReadOnly, Built,
        "Longest text that may go with a committed offset.";
    "offsets.retention.minutes": Int = "10080", AtLeast(1), ReadOnly, Built,
        "How long the offsets of an empty group are kept.";
    "offsets.retention.check.interval.ms": Long = "600000", AtLeast(1), ReadOnly, Built,
        "How often expired offsets are looked for.";
    "group.min.session.timeout.ms": Int = "6000", Any, ReadOnly, Built,
        "Shortest session timeout a classic member may ask for.";
    "group.max.session.timeout.ms": Int = "1800000", Any, ReadOnly, Built,
        "Longest session timeout a classic member may ask for.";
    "group.initial.rebalance.delay.ms": Int = "3000", Any, ReadOnly, Built,
        "How long an empty classic group waits for more members to join.";
    "group.max.size": Int = "2147483647", AtLeast(1), ReadOnly, Built,
        "Most members of a classic group.";
    "group.consumer.session.timeout.ms": Int = "45000", AtLeast(1), ReadOnly, Built,
        "How long a member of a consumer group may be silent, if the group sets nothing.";
    "group.consumer.min.session.timeout.ms": Int = "45000", AtLeast(1), ReadOnly, Built,
        "Shortest session timeout a consumer group may set.";
    "group.consumer.max.session.timeout.ms": Int = "60000", AtLeast(1), ReadOnly, Built,
        "Longest session timeout a consumer group may set.";
    "group.consumer.heartbeat.interval.ms": Int = "5000", AtLeast(1), ReadOnly, Built,
        "How often members of a consumer group report, if the group sets nothing.";
    "group.consumer.min.heartbeat.interval.ms": Int = "5000", AtLeast(1), ReadOnly, Built,
        "Shortest heartbeat interval a consumer group may set.";
    "group.consumer.max.heartbeat.interval.ms": Int = "15000", AtLeast(1), ReadOnly, Built,
        "Longest heartbeat interval a consumer group may set.";
    "group.consumer.max.size": Int = "2147483647", AtLeast(1), ReadOnly, Built,
        "Most members of a consumer group.";
    "group.consumer.assignors": List = "uniform,range", Items(&[], NotEmpty), ReadOnly, Built,
        "Assignors of a consumer group, the default first.";
    "group.consumer.migration.policy": String = "bidirectional",
        OneOfAnyCase(&["DISABLED", "DOWNGRADE", "UPGRADE", "BIDIRECTIONAL"]), ReadOnly, Built,
        "Between which protocols a group may change while it has members.";
    "group.consumer.assignment.interval.ms": Int = "1000", AtLeast(0), ClusterWide, Built,
        "Shortest time between two assignments of a consumer group, if the group sets nothing.";
    "group.consumer.min.assignment.interval.ms": Int = "0", AtLeast(0), ReadOnly, Built,
        "Shortest assignment interval a consumer group may set.";
    "group.consumer.max.assignment.interval.ms": Int = "15000", AtLeast(0), ReadOnly, Built,
        "Longest assignment interval a consumer group may set.";
    "group.consumer.assignor.offload.enable": Boolean = "true", Any, ClusterWide, NoMeaning, internal,
        "Whether assignments of a consumer group are computed beside the coordinator.";
    "group.consumer.regex.refresh.interval.ms": Int = "600000", AtLeast(10_000), ReadOnly, Built, internal,
        "How often regular-expression subscriptions are looked up again.";
    "group.share.session.timeout.ms": Int = "45000", AtLeast(1), ReadOnly, NotBuilt,
        "How long a member of a share group may be silent, if the group sets nothing.";
    "group.share.min.session.timeout.ms": Int = "45000", AtLeast(1), ReadOnly, NotBuilt,
        "Shortest session timeout a share group may set.";
    "group.share.max.session.timeout.ms": Int = "60000", AtLeast(1), ReadOnly, NotBuilt,
        "Longest session timeout a share group may set.";
    "group.share.heartbeat.interval.ms": Int = "5000", AtLeast(1), ReadOnly, NotBuilt,
        "How often members of a share group report, if the group sets nothing.";
    "group.share.min.heartbeat.interval.ms": Int = "5000", AtLeast(1), ReadOnly, NotBuilt,
        "Shortest heartbeat interval a share group may set.";
    "group.share.max.heartbeat.interval.ms": Int = "15000", AtLeast(1), ReadOnly, NotBuilt,
        "Longest heartbeat interval a share group may set.";
    "group.share.max.size": Int = "200", Between(1, 1000), ReadOnly, NotBuilt,
        "Most members of a share group.";
    "group.share.assignors": List = "simple", Items(&[], NotEmpty), ReadOnly, NotBuilt,
        "Assignors of a share group, the default first.";
    "group.share.assignment.interval.ms": Int = "1000", AtLeast(0), ClusterWide, NotBuilt,
        "Shortest time between two assignments of a share group, if the group sets nothing.";
    "group.share.min.assignment.interval.ms": Int = "0", AtLeast(0), ReadOnly, NotBuilt,
        "Shortest assignment interval a share group may set.";
    "group.share.max.assignment.interval.ms": Int = "15000", AtLeast(0), ReadOnly, NotBuilt,
        "Longest assignment interval a share group may set.";
    "group.share.assignor.offload.enable": Boolean = "true", Any, ClusterWide, NotBuilt, internal,
        "Whether assignments of a share group are computed beside the coordinator.";
    "group.share.initialize.retry.interval.ms": Int = "30000", AtLeast(1), ReadOnly, NotBuilt, internal,
        "Pause before the state of a share partition is set up again.";
    "errors.deadletterqueue.auto.create.topics.enable": Boolean = "false", Any, ClusterWide, NotBuilt,
        "Whether dead letter topics are made when needed.";
    "errors.deadletterqueue.topic.name.prefix": String = "dlq.", Any, ClusterWide, NotBuilt,
        "How names of dead letter topics begin.";
    "group.streams.session.timeout.ms": Int = "45000", AtLeast(1), ReadOnly, NotBuilt,
        "How long a member of a streams group may be silent, if the group sets nothing.";
    "group.streams.min.session.timeout.ms": Int = "45000", AtLeast(1), ReadOnly, NotBuilt,
        "Shortest session timeout a streams group may set.";
    "group.streams.max.session.timeout.ms": Int = "60000", AtLeast(1), ReadOnly, NotBuilt,
        "Longest session timeout a streams group may set.";
    "group.streams.heartbeat.interval.ms": Int = "5000", AtLeast(1), ReadOnly, NotBuilt,
        "How often members of a streams group report, if the group sets nothing.";
    "group.streams.min.heartbeat.interval.ms": Int = "5000", AtLeast(1), ReadOnly, NotBuilt,
        "Shortest heartbeat interval a streams group may set.";
    "group.streams.max.heartbeat.interval.ms": Int = "15000", AtLeast(1), ReadOnly, NotBuilt,
        "Longest heartbeat interval a streams group may set.";
    "group.streams.max.size": Int = "2147483647", AtLeast(1), ReadOnly, NotBuilt,
        "Most members of a streams group.";
    "group.streams.num.standby.replicas": Int = "0", AtLeast(0), ReadOnly, NotBuilt,
        "Standby copies of each task, if the group sets none.";
    "group.streams.max.standby.replicas": Int = "2", AtLeast(0), ReadOnly, NotBuilt,
        "Most standby copies a group may ask for.";
    "group.streams.initial.rebalance.delay.ms": Int = "3000", AtLeast(0), ReadOnly, NotBuilt,
        "How long an empty streams group waits for more members.";
    "group.streams.assignment.interval.ms": Int = "1000", AtLeast(0), ClusterWide, NotBuilt,
        "Shortest time between two assignments of a streams group, if the group sets nothing.";
    "group.streams.min.assignment.interval.ms": Int = "0", AtLeast(0), ReadOnly, NotBuilt,
        "Shortest assignment interval a streams group may set.";
    "group.streams.max.assignment.interval.ms": Int = "15000", AtLeast(0), ReadOnly, NotBuilt,
        "Longest assignment interval a streams group may set.";
    "group.streams.assignors": List = "sticky", Items(&[], NotEmpty), ReadOnly, NotBuilt,
        "Assignors of a streams group, the default first.";
    "group.streams.assignor.offload.enable": Boolean = "true", Any, ClusterWide, NotBuilt, internal,
        "Whether assignments of a streams group are computed beside the coordinator.";
    "group.streams.task.offset.interval.ms": Int = "60000", AtLeast(1), ReadOnly, NotBuilt, internal,
        "How often members report the offsets of their tasks.";
    "group.streams.min.task.offset.interval.ms": Int = "15000", AtLeast(1), ReadOnly, NotBuilt, internal,
        "Shortest interval a group may set for that.";
    "group.streams.num.warmup.replicas": Int = "2", AtLeast(0), ReadOnly, NotBuilt, internal,
        "Warm-up copies of tasks, if the group sets none.";
    "group.streams.max.warmup.replicas": Int = "20", AtLeast(0), ReadOnly, NotBuilt, internal,
        "Most warm-up copies a group may ask for.";
    "group.streams.rack.aware.assignment.tags": List = "", Items(&[], MayBeEmpty), ReadOnly, NotBuilt,
        "Client tags over which standby copies are spread.";
    "group.streams.topology.description.plugin.class": Class = null, Any, ReadOnly, NotBuilt,
        "Class that keeps descriptions of topologies.";
    "group.streams.acceptable.recovery.lag": Long = "10000", AtLeast(0), ReadOnly, NotBuilt, internal,
        "Lag in offsets up to which a copy counts as caught up.";
    "log.cleaner.threads": Int = "1", AtLeast(0), ClusterWide, Built,
        "Threads that compact.";
    "log.cleaner.io.max.bytes.per.second": Double = "1.7976931348623157E308", Any, ClusterWide, Built,
        "Read and write limit of compaction.";
    "log.cleaner.dedupe.buffer.size": Long = "134217728", Any, ClusterWide, Built,
        "Memory in which compaction gathers keys.";
    "log.cleaner.io.buffer.size": Int = "524288", AtLeast(0), ClusterWide, Built,
        "Memory through which compaction copies.";
    "log.cleaner.io.buffer.load.factor": Double = "0.9", Any, ClusterWide, Built,
        "How full compaction's key memory may get.";
    "log.cleaner.backoff.ms": Long = "15000", AtLeast(0), ClusterWide, Built,
        "Pause when there is nothing to compact.";
    "log.cleaner.min.cleanable.ratio": Double = "0.5", BetweenF(0.0, 1.0), ClusterWide, Built,
        "Share of not yet compacted bytes from which a log is compacted.";
    "log.cleaner.enable": Boolean = "true", Any, ReadOnly, Built,
        "Whether compaction runs.";
    "log.cleaner.delete.retention.ms": Long = "86400000", AtLeast(0), ClusterWide, Built,
        "How long tombstones stay in compacted logs.";
    "log.cleaner.min.compaction.lag.ms": Long = "0", AtLeast(0), ClusterWide, Built,
        "How long a record is safe from compaction.";
    "log.cleaner.max.compaction.lag.ms": Long = "9223372036854775807", AtLeast(1), ClusterWide, Built,
        "After which time a record must have been compacted.";
    "num.partitions": Int = "1", AtLeast(1), ReadOnly, Built,
        "Partitions of topics that are made without saying how many.";
    "log.dir": List = "/tmp/kafka-logs", Items(&[], NotEmpty), ReadOnly, Built,
        "Data directory, if log.dirs is not set.";
    "log.dirs": List = null, Items(&[], NotEmpty), ReadOnly, Built,
        "Data directories, separated by commas.";
    "cordoned.log.dirs": List = "", Items(&[], MayBeEmpty), PerBroker, NotBuilt,
        "Directories that get no new partitions.";
    "log.segment.bytes": Int = "1073741824", AtLeast(1_048_576), ClusterWide, Built,
        "Largest segment; then a new one begins.";
    "log.roll.ms": Long = null, Any, ClusterWide, Built,
        "Time after which a new segment begins, in ms.";
    "log.roll.hours": Int = "168", AtLeast(1), ReadOnly, Built,
        "Time after which a new segment begins, in hours.";
    "log.roll.jitter.ms": Long = null, Any, ClusterWide, Built,
        "Most that chance takes off that time, in ms.";
    "log.roll.jitter.hours": Int = "0", AtLeast(0), ReadOnly, Built,
        "Most that chance takes off that time, in hours.";
    "log.retention.ms": Long = null, Any, ClusterWide, Built,
        "How long records are kept, in ms; -1 means for ever.";
    "log.retention.minutes": Int = null, Any, ReadOnly, Built,
        "How long records are kept, in minutes.";
    "log.retention.hours": Int = "168", Any, ReadOnly, Built,
        "How long records are kept, in hours.";
    "log.retention.bytes": Long = "-1", Any, ClusterWide, Built,
        "How large a partition may grow before old segments go; -1 means without limit.";
    "log.retention.check.interval.ms": Long = "300000", AtLeast(1), ReadOnly, Built,
        "How often old segments are looked for.";
    "log.cleanup.policy": List = "delete", Items(&["compact", "delete"], MayBeEmpty), ClusterWide, Built,
        "What happens to old segments: delete, compact, both or nothing.";
    "log.index.size.max.bytes": Int = "10485760", AtLeast(4), ClusterWide, Built,
        "Largest offset index of a segment.";
    "log.index.interval.bytes": Int = "4096", AtLeast(0), ClusterWide, Built,
        "Bytes between two index entries.";
    "log.flush.interval.messages": Long = "9223372036854775807", AtLeast(1), ClusterWide, Built,
        "Records after which a partition is flushed to disk.";
    "log.segment.delete.delay.ms": Long = "60000", AtLeast(0), ClusterWide, Built,
        "How long a deleted file stays on disk.";
    "log.flush.scheduler.interval.ms": Long = "9223372036854775807", Any, ReadOnly, Built,
        "How often flushes by time are looked at.";
    "log.flush.interval.ms": Long = null, Any, ClusterWide, Built,
        "Time after which a partition is flushed to disk.";
    "log.flush.offset.checkpoint.interval.ms": Int = "60000", AtLeast(0), ReadOnly, Built,
        "How often recovery points are written to disk.";
    "log.flush.start.offset.checkpoint.interval.ms": Int = "60000", AtLeast(0), ReadOnly, Built,
        "How often log starts are written to disk.";
    "log.preallocate": Boolean = "false", Any, ClusterWide, Built,
        "Whether a new segment's file is made at full size.";
    "num.recovery.threads.per.data.dir": Int = "2", AtLeast(1), ClusterWide, Built,
        "Threads per data directory that open logs at start.";
    "auto.create.topics.enable": Boolean = "true", Any, ReadOnly, Built,
        "Whether asking for a missing topic makes it.";
    "min.insync.replicas": Int = "1", AtLeast(1), ClusterWide, Built,
        "Replicas that must have a record before acks=all is answered.";
    "log.message.timestamp.type": String = "CreateTime",
        OneOf(&["CreateTime", "LogAppendTime"]), ClusterWide, Built,
        "Whether records carry the producer's time or the time of their append.";
    "log.message.timestamp.before.max.ms": Long = "9223372036854775807", AtLeast(0), ClusterWide, Built,
        "How far in the past a record's timestamp may be.";
    "log.message.timestamp.after.max.ms": Long = "3600000", AtLeast(0), ClusterWide, Built,
        "How far in the future a record's timestamp may be.";
    "create.topic.policy.class.name": Class = null, Any, ReadOnly, Protective,
        "Class that may refuse new topics.";
    "alter.config.policy.class.name": Class = null, Any, ReadOnly, Protective,
        "Class that may refuse changes of settings.";
    "log.dir.failure.timeout.ms": Long = "30000", AtLeast(1), ReadOnly, NoMeaning,
        "After which time a broker stops that cannot report a failed directory.";
    "log.initial.task.delay.ms": Long = "30000", AtLeast(0), ReadOnly, Built, internal,
        "From the start to the first housekeeping of logs.";
    "group.share.delivery.count.limit": Int = "5", Between(2, 10), ReadOnly, NotBuilt,
        "How often a record is delivered before it is given up.";
    "group.share.max.delivery.count.limit": Int = "10", Between(5, 25), ReadOnly, NotBuilt,
        "Highest delivery limit a group may set.";
    "group.share.min.delivery.count.limit": Int = "2", Between(2, 5), ReadOnly, NotBuilt,
        "Lowest delivery limit a group may set.";
    "group.share.record.lock.duration.ms": Int = "30000", Between(1000, 3_600_000), ReadOnly, NotBuilt,
        "How long a delivered record belongs to its member.";
    "group.share.min.record.lock.duration.ms": Int = "15000", Between(1000, 30_000), ReadOnly, NotBuilt,
        "Shortest such time a group may set.";
    "group.share.max.record.lock.duration.ms": Int = "60000", Between(30_000, 3_600_000), ReadOnly, NotBuilt,
        "Longest such time a group may set.";
    "group.share.partition.max.record.locks": Int = "2000", Between(100, 10_000), ReadOnly, NotBuilt,
        "Most records of a partition that are out for delivery.";
    "group.share.max.partition.max.record.locks": Int = "4000", Between(2000, 10_000), ReadOnly, NotBuilt,
        "Highest such limit a group may set.";
    "group.share.min.partition.max.record.locks": Int = "100", Between(100, 2000), ReadOnly, NotBuilt,
        "Lowest such limit a group may set.";
    "share.fetch.purgatory.purge.interval.requests": Int = "1000", Any, ReadOnly, NoMeaning,
        "When finished waits of share fetches are swept; here they leave at once.";
    "group.share.max.share.sessions": Int = "2000", AtLeast(1), ReadOnly, NotBuilt,
        "Most share sessions of a broker.";
    "group.share.persister.class.name": String =
        "org.apache.kafka.server.share.persister.DefaultStatePersister",
        Any, ReadOnly, NotBuilt, internal,
        "Class that keeps the state of share groups.";
    "group.share.dlq.manager.class.name": String =
        "org.apache.kafka.server.share.dlq.DefaultShareGroupDLQManager",
        Any, ReadOnly, NotBuilt, internal,
        "Class that writes dead letters.";
    "share.coordinator.state.topic.num.partitions": Int = "50", AtLeast(1), ReadOnly, NotBuilt,
        "Partitions of __share_group_state.";
    "share.coordinator.state.topic.replication.factor": Short = "3", AtLeast(1), ReadOnly, NotBuilt,
        "Replicas of __share_group_state.";
    "share.coordinator.state.topic.min.isr": Short = "2", AtLeast(1), ReadOnly, NotBuilt,
        "Replicas of __share_group_state that must have a record.";
    "share.coordinator.state.topic.segment.bytes": Int = "104857600", AtLeast(1), ReadOnly, NotBuilt,
        "Segment size of __share_group_state.";
    "share.coordinator.threads": Int = "1", AtLeast(1), ReadOnly, NoMeaning,
        "Threads of the share coordinator.";
    "share.coordinator.snapshot.update.records.per.snapshot": Int = "500",
        Between(0, 500), ReadOnly, NotBuilt,
        "Updates that follow a snapshot of a share partition's state.";
    "share.coordinator.load.buffer.size": Int = "5242880", AtLeast(1), ReadOnly, NotBuilt,
        "Bytes that are read at once while share state loads.";
    "share.coordinator.state.topic.compression.codec": Int = "0", Any, ReadOnly, NotBuilt,
        "Codec of __share_group_state by number; 0 means none.";
    "share.coordinator.append.linger.ms": Int = "-1", AtLeast(-1), ReadOnly, NotBuilt,
        "How long the share coordinator gathers writes.";
    "share.coordinator.write.timeout.ms": Int = "5000", AtLeast(1), ReadOnly, NotBuilt,
        "How long a write of the share coordinator may wait for its replicas.";
    "share.coordinator.state.topic.prune.interval.ms": Int = "300000",
        AtLeast(1), ReadOnly, NotBuilt, internal,
        "How often state no longer needed is removed.";
    "share.coordinator.cold.partition.snapshot.interval.ms": Int = "300000",
        AtLeast(1), ReadOnly, NotBuilt, internal,
        "How often idle share partitions are snapshotted.";
    "share.coordinator.cached.buffer.max.bytes": Int = "1048588", AtLeast(524_288), ClusterWide, NoMeaning,
        "Largest write buffer the share coordinator keeps for reuse.";
    "transaction.state.log.min.isr": Int = "2", AtLeast(1), ReadOnly, Built,
        "Replicas of __transaction_state that must have a record.";
    "transaction.state.log.load.buffer.size": Int = "5242880", AtLeast(1), ReadOnly, NotBuilt,
        "Bytes that are read at once while transactions load.";
    "transaction.state.log.replication.factor": Short = "3", AtLeast(1), ReadOnly, Built,
        "Replicas of __transaction_state.";
    "transaction.state.log.num.partitions": Int = "50", AtLeast(1), ReadOnly, Built,
        "Partitions of __transaction_state; not to be changed later.";
    "transaction.state.log.segment.bytes": Int = "104857600", AtLeast(1), ReadOnly, Built,
        "Segment size of __transaction_state.";
    "transaction.partition.verification.enable": Boolean = "true", Any, ClusterWide, Built,
        "Whether a transactional write is checked with its coordinator first.";
    "producer.id.expiration.ms": Int = "86400000", AtLeast(1), ClusterWide, Built,
        "How long an idle producer's sequence numbers are remembered.";
    "producer.id.expiration.check.interval.ms": Int = "600000", AtLeast(1), ReadOnly, Built, internal,
        "How often such producers are looked for.";
    "transactional.id.expiration.ms": Int = "604800000", AtLeast(1), ReadOnly, Built,
        "How long an unused transactional id is remembered.";
    "transaction.max.timeout.ms": Int = "900000", AtLeast(1), ReadOnly, Built,
        "Longest timeout a transaction may ask for.";
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": Int = "10000",
        AtLeast(1), ReadOnly, NoMeaning,
        "How often timed-out transactions are looked for.";
    "transaction.remove.expired.transaction.cleanup.interval.ms": Int = "3600000",
        AtLeast(1), ReadOnly, Built,
        "How often unused transactional ids are looked for.";
    "transaction.two.phase.commit.enable": Boolean = "false", Any, ReadOnly, NotBuilt,
        "Whether a transaction may be prepared and left without a timeout.";
    "controller.quorum.voters": List = "", Voters, ReadOnly, Built,
        "The controllers, as id@host:port, when they are fixed.";
    "controller.quorum.bootstrap.servers": List = "", HostPorts, ReadOnly, Built,
        "Where controllers are found, when they may change.";
    "controller.quorum.election.timeout.ms": Int = "1000", AtLeast(0), ReadOnly, NotBuilt,
        "Silence of the leader after which an election begins.";
    "controller.quorum.fetch.timeout.ms": Int = "2000", AtLeast(0), ReadOnly, Built,
        "How long a controller may go without a successful fetch from the leader.";
    "controller.quorum.election.backoff.max.ms": Int = "1000", AtLeast(0), ReadOnly, NotBuilt,
        "Longest pause before the next election.";
    "controller.quorum.append.linger.ms": Int = "25", AtLeast(0), ReadOnly, NotBuilt,
        "How long the leader gathers writes.";
    "controller.quorum.request.timeout.ms": Int = "2000", AtLeast(0), ReadOnly, NotBuilt,
        "Time limit of a request between controllers.";
    "controller.quorum.retry.backoff.ms": Int = "20", AtLeast(0), ReadOnly, NotBuilt,
        "Pause before a request between controllers is sent again.";
    "controller.quorum.auto.join.enable": Boolean = "false", Any, ReadOnly, NotBuilt,
        "Whether a new controller joins the voters by itself.";
    "controller.quorum.fetch.snapshot.max.bytes": Int = "1048576", AtLeast(1), ReadOnly, NotBuilt,
        "Most bytes in one piece of a snapshot.";
    "controller.quorum.fetch.max.bytes": Int = "1048576", AtLeast(1), ReadOnly, NotBuilt,
        "Most bytes in one fetch of metadata.";
    "metrics.num.samples": Int = "2", AtLeast(1), ReadOnly, NoMeaning,
        "Samples behind each metric.";
    "metrics.sample.window.ms": Long = "30000", AtLeast(1), ReadOnly, NoMeaning,
        "Time that one sample covers.";
    "metric.reporters": List = "org.apache.kafka.common.metrics.JmxReporter",
        Items(&[], MayBeEmpty), ClusterWide, NoMeaning,
        "Classes to which metrics are reported.";
    "metrics.recording.level": String = "INFO", Any, ReadOnly, NoMeaning,
        "Which metrics are recorded.";
    "kafka.metrics.reporters": List = "", Items(&[], MayBeEmpty), ReadOnly, NoMeaning,
        "Classes to which the older metrics are reported.";
    "kafka.metrics.polling.interval.secs": Int = "10", AtLeast(1), ReadOnly, NoMeaning,
        "How often these are asked.";
    "telemetry.max.bytes": Int = "1048576", AtLeast(1), ReadOnly, NotBuilt,
        "Largest report of client metrics.";
    "quota.window.num": Int = "11", AtLeast(1), ReadOnly, NotBuilt,
        "Windows over which client rates are measured.";
    "replication.quota.window.num": Int = "11", AtLeast(1), ReadOnly, NotBuilt,
        "Windows over which replication rates are measured.";
    "alter.log.dirs.replication.quota.window.num": Int = "11", AtLeast(1), ReadOnly, NotBuilt,
        "Windows over which moves between directories are measured.";
    "controller.quota.window.num": Int = "11", AtLeast(1), ReadOnly, NotBuilt,
        "Windows over which changes of metadata are measured.";
    "quota.window.size.seconds": Int = "1", AtLeast(1), ReadOnly, NotBuilt,
        "Length of a window for client rates.";
    "replication.quota.window.size.seconds": Int = "1", AtLeast(1), ReadOnly, NotBuilt,
        "Length of a window for replication rates.";
    "alter.log.dirs.replication.quota.window.size.seconds": Int = "1", AtLeast(1), ReadOnly, NotBuilt,
        "Length of a window for moves between directories.";
    "controller.quota.window.size.seconds": Int = "1", AtLeast(1), ReadOnly, NotBuilt,
        "Length of a window for changes of metadata.";
    "client.quota.callback.class": Class = null, Any, ReadOnly, Protective,
        "Class that decides which quota holds for whom.";
    "connections.max.reauth.ms": Long = "0", Any, ReadOnly, Protective,
        "After which time a client must authenticate again; 0 means never.";
    "sasl.server.max.receive.size": Int = "524288", Any, ReadOnly, Protective,
        "Longest SASL token.";
    "security.providers": String = null, Any, ReadOnly, Protective,
        "Classes that provide security algorithms.";
    "principal.builder.class": Class =
        "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder",
        Any, PerBroker, Protective,
        "Class that names who is connected.";
    "ssl.client.auth": String = "none", OneOf(&["required", "requested", "none"]), PerBroker, Protective,
        "Whether clients must show a certificate.";
    "ssl.principal.mapping.rules": String = "DEFAULT", Any, ReadOnly, Protective,
        "How the name in a certificate becomes a principal.";
    "ssl.allow.dn.changes": Boolean = "false", Any, ReadOnly, Protective,
        "Whether a reloaded certificate may carry another name.";
    "ssl.allow.san.changes": Boolean = "false", Any, ReadOnly, Protective,
        "Whether a reloaded certificate may carry other alternative names.";
    "ssl.protocol": String = "TLSv1.3", Any, PerBroker, Protective,
        "Newest TLS version to use.";
    "ssl.provider": String = null, Any, PerBroker, Protective,
        "Provider of the TLS implementation.";
    "ssl.enabled.protocols": List = "TLSv1.2,TLSv1.3", Items(&[], MayBeEmpty), PerBroker, Protective,
        "TLS versions that are accepted.";
    "ssl.keystore.type": String = "JKS", Any, PerBroker, Protective,
        "Format of the key store.";
    "ssl.keystore.location": String = null, Any, PerBroker, Protective,
        "File of the key store.";
    "ssl.keystore.password": Password = null, Any, PerBroker, Protective,
        "Password of the key store.";
    "ssl.key.password": Password = null, Any, PerBroker, Protective,
        "Password of the private key.";
    "ssl.keystore.key": Password = null, Any, PerBroker, Protective,
        "The private key itself, in PEM.";
    "ssl.keystore.certificate.chain": Password = null, Any, PerBroker, Protective,
        "The certificates themselves, in PEM.";
    "ssl.truststore.type": String = "JKS", Any, PerBroker, Protective,
        "Format of the trust store.";
    "ssl.truststore.location": String = null, Any, PerBroker, Protective,
        "File of the trust store.";
    "ssl.truststore.password": Password = null, Any, PerBroker, Protective,
        "Password of the trust store.";
    "ssl.truststore.certificates": Password = null, Any, PerBroker, Protective,
        "The trusted certificates themselves, in PEM.";
    "ssl.keymanager.algorithm": String = "SunX509", Any, PerBroker, Protective,
        "Algorithm by which keys are picked.";
    "ssl.trustmanager.algorithm": String = "PKIX", Any, PerBroker, Protective,
        "Algorithm by which certificates are checked.";
    "ssl.endpoint.identification.algorithm": String = "https", Any, PerBroker, Protective,
        "How a server's name is checked against its certificate.";
    "ssl.secure.random.implementation": String = null, Any, PerBroker, Protective,
        "Source of random numbers for TLS.";
    "ssl.cipher.suites": List = "", Items(&[], MayBeEmpty), PerBroker, Protective,
        "Cipher suites that are accepted; empty means the usual ones.";
    "ssl.engine.factory.class": Class = null, Any, PerBroker, Protective,
        "Class that makes TLS engines.";
    "sasl.mechanism.inter.broker.protocol": String = "GSSAPI", Any, PerBroker, Protective,
        "SASL mechanism between brokers.";
    "sasl.enabled.mechanisms": List = "GSSAPI", Items(&[], MayBeEmpty), PerBroker, Protective,
        "SASL mechanisms that clients may use.";
    "sasl.server.callback.handler.class": Class = null, Any, ReadOnly, Protective,
        "Class that checks credentials on the server's side.";
    "sasl.kerberos.principal.to.local.rules": List = "DEFAULT", Items(&[], MayBeEmpty), PerBroker, Protective,
        "How Kerberos names become short names.";
    "sasl.jaas.config": Password = null, Any, PerBroker, Protective,
        "Login settings for SASL.";
    "sasl.client.callback.handler.class": Class = null, Any, ReadOnly, Protective,
        "Class that supplies credentials on the client's side.";
    "sasl.login.class": Class = null, Any, ReadOnly, Protective,
        "Class that logs in.";
    "sasl.login.callback.handler.class": Class = null, Any, ReadOnly, Protective,
        "Class that supplies credentials for the login.";
    "sasl.kerberos.service.name": String = null, Any, PerBroker, Protective,
        "Kerberos name of the service.";
    "sasl.kerberos.kinit.cmd": String = "/usr/bin/kinit", Any, PerBroker, Protective,
        "Path of kinit.";
    "sasl.kerberos.ticket.renew.window.factor": Double = "0.8", Any, PerBroker, Protective,
        "Share of a ticket's life after which it is renewed.";
    "sasl.kerberos.ticket.renew.jitter": Double = "0.05", Any, PerBroker, Protective,
        "Share of chance in the renewal time.";
    "sasl.kerberos.min.time.before.relogin": Long = "60000", Any, PerBroker, Protective,
        "Shortest time between two logins.";
    "sasl.login.refresh.window.factor": Double = "0.8", Any, PerBroker, Protective,
        "Share of a token's life after which it is renewed.";
    "sasl.login.refresh.window.jitter": Double = "0.05", Any, PerBroker, Protective,
        "Share of chance in the token's renewal time.";
    "sasl.login.refresh.min.period.seconds": Short = "60", Any, PerBroker, Protective,
        "Shortest time between two renewals of a token.";
    "sasl.login.refresh.buffer.seconds": Short = "300", Any, PerBroker, Protective,
        "Time to keep free before a token expires.";
    "sasl.login.connect.timeout.ms": Int = null, Any, ReadOnly, Protective,
        "Time limit for connecting to the token provider.";
    "sasl.login.read.timeout.ms": Int = null, Any, ReadOnly, Protective,
        "Time limit for an answer of the token provider.";
    "sasl.login.retry.backoff.max.ms": Long = "10000", Any, ReadOnly, Protective,
        "Longest pause before the token provider is asked again.";
    "sasl.login.retry.backoff.ms": Long = "100", Any, ReadOnly, Protective,
        "First pause before the token provider is asked again.";
    "sasl.oauthbearer.jwt.retriever.class": Class =
        "org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever",
        Any, ReadOnly, Protective,
        "Class that fetches tokens.";
    "sasl.oauthbearer.jwt.validator.class": Class =
        "org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator",
        Any, ReadOnly, Protective,
        "Class that checks tokens.";
    "sasl.oauthbearer.scope": String = null, Any, ReadOnly, Protective,
        "Scope to ask tokens for.";
    "sasl.oauthbearer.client.credentials.client.id": String = null, Any, ReadOnly, Protective,
        "Client id towards the token provider.";
    "sasl.oauthbearer.client.credentials.client.secret": Password = null, Any, ReadOnly, Protective,
        "Client secret towards the token provider.";
    "sasl.oauthbearer.assertion.algorithm": String = "RS256",
        OneOfAnyCase(&["ES256", "RS256"]), ReadOnly, Protective,
        "How assertions are signed.";
    "sasl.oauthbearer.assertion.claim.aud": String = null, Any, ReadOnly, Protective,
        "Audience claimed in assertions.";
    "sasl.oauthbearer.assertion.claim.exp.seconds": Int = "300", Between(0, 86_400), ReadOnly, Protective,
        "Life of an assertion.";
    "sasl.oauthbearer.assertion.claim.iss": String = null, Any, ReadOnly, Protective,
        "Issuer claimed in assertions.";
    "sasl.oauthbearer.assertion.claim.jti.include": Boolean = "false", Any, ReadOnly, Protective,
        "Whether assertions carry an id.";
    "sasl.oauthbearer.assertion.claim.nbf.seconds": Int = "60", Between(0, 3600), ReadOnly, Protective,
        "How far back an assertion's start of validity lies.";
    "sasl.oauthbearer.assertion.claim.sub": String = null, Any, ReadOnly, Protective,
        "Subject claimed in assertions.";
    "sasl.oauthbearer.assertion.file": String = null, Any, ReadOnly, Protective,
        "File of a ready-made assertion.";
    "sasl.oauthbearer.assertion.private.key.file": String = null, Any, ReadOnly, Protective,
        "File of the key that signs assertions.";
    "sasl.oauthbearer.assertion.private.key.passphrase": Password = null, Any, ReadOnly, Protective,
        "Password of that key.";
    "sasl.oauthbearer.assertion.template.file": String = null, Any, ReadOnly, Protective,
        "File with further headers and claims of assertions.";
    "sasl.oauthbearer.scope.claim.name": String = "scope", Any, ReadOnly, Protective,
        "Claim that holds a token's scope.";
    "sasl.oauthbearer.sub.claim.name": String = "sub", Any, ReadOnly, Protective,
        "Claim that holds a token's subject.";
    "sasl.oauthbearer.token.endpoint.url": String = null, Any, ReadOnly, Protective,
        "Address of the token provider.";
    "sasl.oauthbearer.jwks.endpoint.url": String = null, Any, ReadOnly, Protective,
        "Address of the provider's public keys.";
    "sasl.oauthbearer.jwks.endpoint.refresh.ms": Long = "3600000", Any, ReadOnly, Protective,
        "How often these keys are fetched again.";
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms": Long = "100", Any, ReadOnly, Protective,
        "First pause before the keys are fetched again.";
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms": Long = "10000", Any, ReadOnly, Protective,
        "Longest pause before the keys are fetched again.";
    "sasl.oauthbearer.clock.skew.seconds": Int = "30", Any, ReadOnly, Protective,
        "How far the provider's clock may differ.";
    "sasl.oauthbearer.allow.unverified.audience": Boolean = "false", Any, ReadOnly, Protective,
        "Whether a token's audience may go unchecked.";
    "sasl.oauthbearer.expected.audience": List = "", Items(&[], MayBeEmpty), ReadOnly, Protective,
        "Audiences of which a token must name one.";
    "sasl.oauthbearer.allow.unverified.issuer": Boolean = "false", Any, ReadOnly, Protective,
        "Whether a token's issuer may go unchecked.";
    "sasl.oauthbearer.expected.issuer": String = null, Any, ReadOnly, Protective,
        "Issuer a token must come from.";
    "delegation.token.secret.key": Password = null, Any, ReadOnly, Protective,
        "Key that signs delegation tokens.";
    "delegation.token.max.lifetime.ms": Long = "604800000", AtLeast(1), ReadOnly, NotBuilt,
        "How long a delegation token can be renewed.";
    "delegation.token.expiry.time.ms": Long = "86400000", AtLeast(1), ReadOnly, NotBuilt,
        "How long a delegation token holds without renewal.";
    "delegation.token.expiry.check.interval.ms": Long = "3600000", AtLeast(1), ReadOnly, NotBuilt,
        "How often expired delegation tokens are looked for.";
    "add.partitions.to.txn.retry.backoff.max.ms": Int = "100", AtLeast(0), ReadOnly, NotBuilt,
        "Longest pause before a transaction's partition is added again.";
    "add.partitions.to.txn.retry.backoff.ms": Int = "20", AtLeast(1), ReadOnly, NotBuilt,
        "First pause before a transaction's partition is added again.";
};

pub(super) static DYNAMIC_ONLY: &[Key] = keys! { broker:
    "leader.replication.throttled.rate": Long = "9223372036854775807", AtLeast(0), ClusterWide, NotBuilt,
        "Bytes a second that a leader sends for throttled replicas.";
    "follower.replication.throttled.rate": Long = "9223372036854775807", AtLeast(0), ClusterWide, NotBuilt,
        "Bytes a second that a follower fetches for throttled replicas.";
    "replica.alter.log.dirs.io.max.bytes.per.second": Long = "9223372036854775807", AtLeast(0), ClusterWide, NotBuilt,
        "Bytes a second for moving replicas between directories.";
};
