//! Members come and go while records flow; nothing is lost, nothing comes twice.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use rdkafka::ClientContext;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer, ConsumerContext, Rebalance};
use rdkafka::producer::FutureRecord;

use crate::app::{App, PATIENCE, Seen, app, soon};

/// Commits what was worked on before partitions go to somebody else.
struct Handover {
    rebalances: Arc<AtomicUsize>,
}

impl ClientContext for Handover {}

impl ConsumerContext for Handover {
    fn pre_rebalance(&self, consumer: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        if let Rebalance::Revoke(_) = rebalance {
            self.rebalances.fetch_add(1, Ordering::Relaxed);
            let _ = consumer.commit_consumer_state(CommitMode::Sync);
        }
    }
}

/// What all members together have done.
#[derive(Default)]
struct Work {
    times_seen: Mutex<HashMap<String, usize>>,
    owned: [AtomicUsize; 3],
}

impl Work {
    fn done(&self) -> usize {
        self.times_seen.lock().unwrap().len()
    }
}

struct Member {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Member {
    /// A member in a thread of its own, which works until it is told to leave.
    fn join(
        app: &App,
        number: usize,
        how: &[(&str, &str)],
        work: &Arc<Work>,
        rebalances: &Arc<AtomicUsize>,
    ) -> Member {
        let context = Handover { rebalances: rebalances.clone() };
        // A small poll loop with stored offsets: committed is what was worked on, not what was fetched.
        let settings = [how, &[("enable.auto.offset.store", "false")]].concat();
        let consumer = app.consumer("sharing", &settings, context);
        consumer.subscribe(&["shared"]).unwrap();
        let (stop, work) = (Arc::new(AtomicBool::new(false)), work.clone());
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                if let Some(message) = consumer.poll(Duration::from_millis(20)) {
                    let message = message.unwrap();
                    *work.times_seen.lock().unwrap().entry(Seen::of(&message).text()).or_default() += 1;
                    consumer.store_offset_from_message(&message).unwrap();
                }
                let owned = consumer.assignment().map(|list| list.count()).unwrap_or_default();
                work.owned[number].store(owned, Ordering::Relaxed);
            }
            let _ = consumer.commit_consumer_state(CommitMode::Sync);
            work.owned[number].store(0, Ordering::Relaxed);
        });
        Member { stop, thread }
    }

    fn leave(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap();
    }
}

/// Sends until told to stop; how many were acknowledged.
fn flow(app: &App, stop: Arc<AtomicBool>) -> JoinHandle<usize> {
    let producer = app.producer(&[("linger.ms", "1")]);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut sent = 0;
        while !stop.load(Ordering::Relaxed) {
            let value = format!("v{sent}");
            let record = FutureRecord::<(), str>::to("shared").partition(sent % 6).payload(&value);
            runtime.block_on(producer.send(record, PATIENCE)).unwrap();
            sent += 1;
        }
        usize::try_from(sent).unwrap()
    })
}

fn settled(work: &Work, sizes: [usize; 3]) {
    let what = format!("members own {sizes:?} partitions");
    soon(&what, || {
        std::thread::sleep(Duration::from_millis(20));
        let mut owned = work.owned.each_ref().map(|owned| owned.load(Ordering::Relaxed));
        owned.sort_unstable();
        owned == sizes
    });
}

async fn members_come_and_go(how: &[(&str, &str)]) {
    let Some(app) = app() else { return };
    app.create("shared", 6).await;
    let (work, rebalances) = (Arc::new(Work::default()), Arc::new(AtomicUsize::new(0)));
    let stop = Arc::new(AtomicBool::new(false));
    let producer = flow(&app, stop.clone());
    let join = |number| Member::join(&app, number, how, &work, &rebalances);

    let first = join(0);
    settled(&work, [0, 0, 6]);
    let second = join(1);
    settled(&work, [0, 3, 3]);
    let third = join(2);
    settled(&work, [2, 2, 2]);
    second.leave();
    settled(&work, [0, 3, 3]);
    let second = join(1);
    settled(&work, [2, 2, 2]);
    first.leave();
    third.leave();
    settled(&work, [0, 0, 6]);

    stop.store(true, Ordering::Relaxed);
    let sent = producer.join().unwrap();
    soon("every record is worked on", || {
        std::thread::sleep(Duration::from_millis(20));
        work.done() == sent
    });
    second.leave();
    let seen = work.times_seen.lock().unwrap();
    let twice: Vec<_> = seen.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "of {sent} records came twice: {twice:?}");
    assert!(rebalances.load(Ordering::Relaxed) >= 4, "partitions changed hands");
}

/// A member with a name of its own restarts within its session: nobody else notices, and nothing is read twice.
async fn a_static_member_restarts(protocol: &[(&str, &str)]) {
    let Some(app) = app() else { return };
    app.create("shared", 6).await;
    let (work, rebalances) = (Arc::new(Work::default()), Arc::new(AtomicUsize::new(0)));
    let stop = Arc::new(AtomicBool::new(false));
    let producer = flow(&app, stop.clone());
    let join = |number, name| {
        let how = [protocol, &[("group.instance.id", name)]].concat();
        Member::join(&app, number, &how, &work, &rebalances)
    };

    let (first, second) = (join(0, "first"), join(1, "second"));
    settled(&work, [0, 3, 3]);
    let before = rebalances.load(Ordering::Relaxed);
    first.leave();
    let first = join(0, "first");
    settled(&work, [0, 3, 3]);
    assert_eq!(rebalances.load(Ordering::Relaxed), before + 1, "only who left gave its partitions up");

    stop.store(true, Ordering::Relaxed);
    let sent = producer.join().unwrap();
    soon("every record is worked on", || {
        std::thread::sleep(Duration::from_millis(20));
        work.done() == sent
    });
    first.leave();
    second.leave();
    let seen = work.times_seen.lock().unwrap();
    assert!(seen.values().all(|times| *times == 1), "nothing comes twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn static_members_by_range() {
    a_static_member_restarts(&[("partition.assignment.strategy", "range")]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn static_members_by_the_brokers_assignor() {
    a_static_member_restarts(&[("group.protocol", "consumer")]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn three_members_by_range() {
    members_come_and_go(&[("partition.assignment.strategy", "range")]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn three_members_by_round_robin() {
    members_come_and_go(&[("partition.assignment.strategy", "roundrobin")]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn three_members_by_cooperative_sticky() {
    members_come_and_go(&[("partition.assignment.strategy", "cooperative-sticky")]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn three_members_by_the_brokers_uniform_assignor() {
    members_come_and_go(&[("group.protocol", "consumer"), ("group.remote.assignor", "uniform")]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn three_members_by_the_brokers_range_assignor() {
    members_come_and_go(&[("group.protocol", "consumer"), ("group.remote.assignor", "range")]).await;
}
