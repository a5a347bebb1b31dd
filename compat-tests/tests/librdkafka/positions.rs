//! Where a consumer stands: seek, offsets for times, watermarks, and the ways to commit.

use std::time::Duration;

use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer, DefaultConsumerContext};
use rdkafka::producer::FutureRecord;
use rdkafka::{Offset, TopicPartitionList};

use crate::app::{App, PATIENCE, app, soon, take};

const BASE: i64 = 1_700_000_000_000;

fn partition(topic: &str, offset: Offset) -> TopicPartitionList {
    let mut list = TopicPartitionList::new();
    list.add_partition_offset(topic, 0, offset).unwrap();
    list
}

#[tokio::test]
async fn seek_times_and_watermarks() {
    let Some(app) = app() else { return };
    app.create("times", 1).await;
    let producer = app.producer(&[("linger.ms", "50"), ("compression.type", "lz4")]);
    let mut waiting = Vec::new();
    for time in [0, 10, 20, 50, 30, 40, 60] {
        let value = format!("at{time}");
        let record = FutureRecord::<(), str>::to("times").payload(&value).timestamp(BASE + time);
        waiting.push(producer.send_result(record).unwrap());
    }
    for delivery in waiting {
        delivery.await.unwrap().unwrap();
    }
    let consumer = app.consumer("times", &[], DefaultConsumerContext);
    consumer.assign(&partition("times", Offset::Beginning)).unwrap();
    assert_eq!(take(&consumer, 7)[6].text(), "at60");

    for (time, offset) in [(5, 1), (20, 2), (25, 3), (55, 6)] {
        let found =
            consumer.offsets_for_times(partition("times", Offset::Offset(BASE + time)), PATIENCE).unwrap();
        assert_eq!(found.elements()[0].offset(), Offset::Offset(offset), "first record at or after {time}");
    }
    let after = consumer.offsets_for_times(partition("times", Offset::Offset(BASE + 61)), PATIENCE).unwrap();
    assert_eq!(after.elements()[0].offset(), Offset::End, "nothing after the last time");
    assert_eq!(consumer.fetch_watermarks("times", 0, PATIENCE).unwrap(), (0, 7));

    consumer.seek("times", 0, Offset::Offset(4), PATIENCE).unwrap();
    assert_eq!(take(&consumer, 3)[0].text(), "at30");
    consumer.seek("times", 0, Offset::Beginning, PATIENCE).unwrap();
    assert_eq!(take(&consumer, 1)[0].text(), "at0");
}

#[tokio::test]
async fn an_offset_out_of_range_starts_over() {
    let Some(app) = app() else { return };
    app.create("range", 1).await;
    app.fill(&app.producer(&[]), "range", 5).await;
    let consumer = app.consumer("range", &[], DefaultConsumerContext);
    consumer.assign(&partition("range", Offset::Offset(1000))).unwrap();
    assert_eq!(take(&consumer, 5)[0].offset, 0);
}

/// What the group has committed for partition 0 of the topic of the same name.
fn committed(app: &App, name: &str) -> Offset {
    let consumer = app.consumer(name, &[], DefaultConsumerContext);
    let list = consumer.committed_offsets(partition(name, Offset::Invalid), PATIENCE).unwrap();
    list.elements()[0].offset()
}

fn member(app: &App, name: &str, settings: &[(&str, &str)]) -> BaseConsumer {
    let consumer = app.consumer(name, settings, DefaultConsumerContext);
    consumer.subscribe(&[name]).unwrap();
    consumer
}

#[tokio::test]
async fn manual_commits_wait_and_carry_metadata() {
    let Some(app) = app() else { return };
    app.create("manual", 1).await;
    app.fill(&app.producer(&[]), "manual", 50).await;
    let consumer = member(&app, "manual", &[]);
    take(&consumer, 20);
    assert_eq!(committed(&app, "manual"), Offset::Invalid, "nothing is committed by itself");
    let chosen = partition("manual", Offset::Offset(15));
    chosen.find_partition("manual", 0).unwrap().set_metadata("by hand");
    consumer.commit(&chosen, CommitMode::Sync).unwrap();
    let list = consumer.committed_offsets(partition("manual", Offset::Invalid), PATIENCE).unwrap();
    assert_eq!((list.elements()[0].offset(), list.elements()[0].metadata()), (Offset::Offset(15), "by hand"));
    drop(consumer);
    assert_eq!(
        take(&member(&app, "manual", &[]), 35)[0].offset,
        15,
        "the next member goes on from the commit"
    );
}

#[tokio::test]
async fn asynchronous_commits_arrive() {
    let Some(app) = app() else { return };
    app.create("async", 1).await;
    app.fill(&app.producer(&[]), "async", 50).await;
    let consumer = member(&app, "async", &[]);
    for round in 1..=5 {
        take(&consumer, 10);
        consumer.commit(&partition("async", Offset::Offset(10 * round)), CommitMode::Async).unwrap();
    }
    soon("the last commit is there", || {
        consumer.poll(Duration::from_millis(20));
        committed(&app, "async") == Offset::Offset(50)
    });
}

#[tokio::test]
async fn automatic_commits_on_the_interval_and_at_close() {
    let Some(app) = app() else { return };
    app.create("auto", 1).await;
    let producer = app.producer(&[]);
    app.fill(&producer, "auto", 50).await;
    let automatic = [("enable.auto.commit", "true"), ("auto.commit.interval.ms", "100")];
    let consumer = member(&app, "auto", &automatic);
    take(&consumer, 50);
    soon("the interval's commit", || {
        consumer.poll(Duration::from_millis(50));
        committed(&app, "auto") == Offset::Offset(50)
    });
    app.fill(&producer, "auto", 7).await;
    take(&consumer, 7);
    drop(consumer);
    assert_eq!(committed(&app, "auto"), Offset::Offset(57), "committed at the close");
}
