//! Members of consumer groups on Kafka's Java client and on librdkafka, each a process of its own, come, go, crash and
//! pause while records flow: nothing is lost, and what is committed is what was worked on.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod process;

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use compat_tests::{Broker, Suite, suite};
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::producer::{FutureProducer, FutureRecord};
use rdkafka::{Offset, TopicPartitionList};

use process::{Member, Seen};

const PARTITIONS: i32 = 6;
const PATIENCE: Duration = Duration::from_secs(60);
/// A member that is not heard of for so long, in ms, has lost its partitions.
const SESSION_MS: &str = "2000";
/// The same where a member restarts unnoticed: as long as a process may take to start on a busy machine.
const LONG_SESSION_MS: &str = "10000";

/// What a member runs on.
#[derive(Clone, Copy)]
enum Client {
    Java,
    Librdkafka,
}

/// One group of members at a time on each client: a session is short, and many processes that start keep a machine busy.
static JAVA: Mutex<()> = Mutex::new(());
static LIBRDKAFKA: Mutex<()> = Mutex::new(());

impl Client {
    fn turn(self) -> &'static Mutex<()> {
        match self {
            Client::Java => &JAVA,
            Client::Librdkafka => &LIBRDKAFKA,
        }
    }

    fn command(self) -> Command {
        match self {
            Client::Librdkafka => Command::new(env!("CARGO_BIN_EXE_librdkafka_member")),
            Client::Java => {
                let mut java = Command::new("java");
                java.args(["-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]);
                java.args(["-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", class_path()]);
                java.arg("compat.Member");
                java
            }
        }
    }
}

/// The programs are compiled once.
fn class_path() -> &'static str {
    static PATH: OnceLock<(tempfile::TempDir, String)> = OnceLock::new();
    let (_, path) = PATH.get_or_init(|| {
        let directory = tempfile::tempdir().unwrap();
        let compile = suite::home().join("java/compile");
        let compiled = Command::new(compile).arg("4.4.0").arg(directory.path()).output().unwrap();
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        (directory, String::from_utf8(compiled.stdout).unwrap().trim_end().to_owned())
    });
    path
}

/// A broker, a topic that records flow into, and a group.
struct Scene {
    broker: Broker,
    client: Client,
    settings: Vec<String>,
    seen: Seen,
    stop: Arc<AtomicBool>,
    flow: JoinHandle<usize>,
}

impl Scene {
    fn open(client: Client, settings: &[(&str, &str)], session_ms: &str) -> Scene {
        let broker = Broker::start_with(&[
            ("group.min.session.timeout.ms", "1000"),
            ("group.consumer.min.session.timeout.ms", "1000"),
            ("group.consumer.session.timeout.ms", session_ms),
        ]);
        let mut settings: Vec<_> = settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
        settings.push("group.id=sharing".to_owned());
        if !settings.contains(&"group.protocol=consumer".to_owned()) {
            settings
                .extend([format!("session.timeout.ms={session_ms}"), "heartbeat.interval.ms=200".to_owned()]);
        }
        create(&broker);
        let stop = Arc::new(AtomicBool::new(false));
        let flow = flow(&broker, stop.clone());
        Scene { broker, client, settings, seen: Seen::default(), stop, flow }
    }

    fn join(&self, more: &[&str]) -> Member {
        let mut command = self.client.command();
        command.arg(self.broker.bootstrap()).args(&self.settings).args(more);
        Member::start(command, &self.seen)
    }

    /// Every record is seen, and what is committed is the end of every partition.
    fn close(self, members: Vec<Member>) {
        self.stop.store(true, Ordering::Relaxed);
        let sent = self.flow.join().unwrap();
        soon(&format!("{sent} records seen"), || self.seen.lock().unwrap().len() == sent);
        soon(&format!("{sent} records committed"), || committed(&self.broker) == sent);
        members.into_iter().for_each(Member::leave);
        assert_eq!(committed(&self.broker), sent, "after the last has left");
    }
}

fn create(broker: &Broker) {
    let admin: AdminClient<DefaultClientContext> =
        ClientConfig::new().set("bootstrap.servers", broker.bootstrap()).create().unwrap();
    let new = NewTopic::new("shared", PARTITIONS, TopicReplication::Fixed(1));
    let created = block_on(admin.create_topics([&new], &AdminOptions::new())).unwrap();
    assert_eq!(created, [Ok("shared".to_owned())]);
}

/// Sends until told to stop; how many were acknowledged.
fn flow(broker: &Broker, stop: Arc<AtomicBool>) -> JoinHandle<usize> {
    let producer: FutureProducer = ClientConfig::new()
        .set("bootstrap.servers", broker.bootstrap())
        .set("linger.ms", "5")
        .create()
        .unwrap();
    std::thread::spawn(move || {
        let mut sent = 0;
        while !stop.load(Ordering::Relaxed) {
            let record = FutureRecord::<(), str>::to("shared").partition(sent % PARTITIONS).payload("v");
            block_on(producer.send(record, PATIENCE)).unwrap();
            sent += 1;
        }
        usize::try_from(sent).unwrap()
    })
}

/// Offsets that the group has committed, added up.
fn committed(broker: &Broker) -> usize {
    let asker: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", broker.bootstrap())
        .set("group.id", "sharing")
        .create()
        .unwrap();
    let mut all = TopicPartitionList::new();
    all.add_partition_range("shared", 0, PARTITIONS - 1);
    let committed = asker.committed_offsets(all, PATIENCE).unwrap();
    let offsets = committed
        .elements()
        .iter()
        .map(|one| match one.offset() {
            Offset::Offset(offset) => usize::try_from(offset).unwrap(),
            _ => 0,
        })
        .collect::<Vec<_>>();
    offsets.iter().sum()
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn soon(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn settle(sizes: &[usize], members: &[&Member]) {
    let shares = || {
        let mut shares: Vec<_> = members.iter().map(|member| member.share()).collect();
        shares.sort_unstable();
        shares
    };
    soon(&format!("shares of {sizes:?}"), || shares() == sizes);
}

fn come_go_crash_and_pause(client: Client, settings: &[(&str, &str)]) {
    if !Suite::Members.wanted() {
        return;
    }
    let _turn = client.turn().lock().unwrap_or_else(PoisonError::into_inner);
    let scene = Scene::open(client, settings, SESSION_MS);
    let a = scene.join(&[]);
    settle(&[6], &[&a]);
    let (b, c) = (scene.join(&[]), scene.join(&[]));
    settle(&[2, 2, 2], &[&a, &b, &c]);
    b.leave();
    settle(&[3, 3], &[&a, &c]);
    let b = scene.join(&[]);
    settle(&[2, 2, 2], &[&a, &b, &c]);
    c.crash();
    settle(&[3, 3], &[&a, &b]);
    // One that is stopped for longer than its session loses all; when it goes on it joins again.
    a.pause();
    settle(&[6], &[&b]);
    a.go_on();
    settle(&[3, 3], &[&a, &b]);
    scene.close(vec![a, b]);
}

fn a_static_member_restarts(client: Client, settings: &[(&str, &str)]) {
    if !Suite::Members.wanted() {
        return;
    }
    let _turn = client.turn().lock().unwrap_or_else(PoisonError::into_inner);
    let scene = Scene::open(client, settings, LONG_SESSION_MS);
    let named = |name: &str| scene.join(&[&format!("group.instance.id={name}")]);
    let (a, b) = (named("a"), named("b"));
    settle(&[3, 3], &[&a, &b]);
    let before = b.times_given();
    a.leave();
    let a = named("a");
    settle(&[3, 3], &[&a, &b]);
    assert_eq!(b.times_given(), before, "nobody else notices a static member's restart");
    a.crash();
    settle(&[6], &[&b]);
    scene.close(vec![b]);
}

const RANGE: &str = "org.apache.kafka.clients.consumer.RangeAssignor";
const ROUND_ROBIN: &str = "org.apache.kafka.clients.consumer.RoundRobinAssignor";
const STICKY: &str = "org.apache.kafka.clients.consumer.StickyAssignor";
const COOPERATIVE: &str = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor";
const STRATEGY: &str = "partition.assignment.strategy";
const CONSUMER: &[(&str, &str)] = &[("group.protocol", "consumer")];

#[test]
fn java_members_by_range() {
    come_go_crash_and_pause(Client::Java, &[(STRATEGY, RANGE)]);
}

#[test]
fn java_members_by_round_robin() {
    come_go_crash_and_pause(Client::Java, &[(STRATEGY, ROUND_ROBIN)]);
}

#[test]
fn java_members_by_sticky() {
    come_go_crash_and_pause(Client::Java, &[(STRATEGY, STICKY)]);
}

#[test]
fn java_members_by_cooperative_sticky() {
    come_go_crash_and_pause(Client::Java, &[(STRATEGY, COOPERATIVE)]);
}

#[test]
fn java_members_by_the_brokers_assignor() {
    come_go_crash_and_pause(Client::Java, CONSUMER);
}

#[test]
fn static_java_members_restart() {
    a_static_member_restarts(Client::Java, &[(STRATEGY, RANGE)]);
}

#[test]
fn static_java_members_of_the_new_protocol_restart() {
    a_static_member_restarts(Client::Java, CONSUMER);
}

#[test]
fn librdkafka_members_by_range() {
    come_go_crash_and_pause(Client::Librdkafka, &[(STRATEGY, "range")]);
}

#[test]
fn librdkafka_members_by_round_robin() {
    come_go_crash_and_pause(Client::Librdkafka, &[(STRATEGY, "roundrobin")]);
}

#[test]
fn librdkafka_members_by_cooperative_sticky() {
    come_go_crash_and_pause(Client::Librdkafka, &[(STRATEGY, "cooperative-sticky")]);
}

#[test]
fn librdkafka_members_by_the_brokers_assignor() {
    come_go_crash_and_pause(Client::Librdkafka, CONSUMER);
}

#[test]
fn static_librdkafka_members_restart() {
    a_static_member_restarts(Client::Librdkafka, &[(STRATEGY, "range")]);
}

#[test]
fn static_librdkafka_members_of_the_new_protocol_restart() {
    a_static_member_restarts(Client::Librdkafka, CONSUMER);
}
