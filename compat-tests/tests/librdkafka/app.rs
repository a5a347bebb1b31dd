//! What every application needs: a broker, a topic, producers, consumers.

use std::time::{Duration, Instant};

use compat_tests::{Broker, Suite};
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::message::{Headers, Message, OwnedHeaders};
use rdkafka::producer::{FutureProducer, FutureRecord};

/// How long anything may take that normally takes milliseconds.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A record as a consumer saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub partition: i32,
    pub offset: i64,
    pub timestamp: Option<i64>,
    pub key: Option<Vec<u8>>,
    pub value: Option<Vec<u8>>,
    pub headers: Vec<(String, Option<Vec<u8>>)>,
}

impl Seen {
    pub fn of(message: &impl Message) -> Seen {
        let headers = message.headers().map(|headers| {
            headers.iter().map(|header| (header.key.to_owned(), header.value.map(<[u8]>::to_vec))).collect()
        });
        Seen {
            partition: message.partition(),
            offset: message.offset(),
            timestamp: message.timestamp().to_millis(),
            key: message.key().map(<[u8]>::to_vec),
            value: message.payload().map(<[u8]>::to_vec),
            headers: headers.unwrap_or_default(),
        }
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.value.clone().unwrap_or_default()).unwrap()
    }
}

/// One test's broker, with clients for it.
pub struct App {
    pub broker: Broker,
}

/// The broker for a test, or none when the suite is left out.
pub fn app() -> Option<App> {
    Suite::Librdkafka.wanted().then(|| App { broker: Broker::start() })
}

impl App {
    fn client(&self, settings: &[(&str, &str)]) -> ClientConfig {
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", self.broker.bootstrap());
        for (key, value) in settings {
            config.set(*key, *value);
        }
        config
    }

    pub fn producer(&self, settings: &[(&str, &str)]) -> FutureProducer {
        self.client(settings).create().unwrap()
    }

    pub fn admin(&self) -> AdminClient<DefaultClientContext> {
        self.client(&[]).create().unwrap()
    }

    /// A consumer in `group` that starts at the beginning and commits only when told.
    pub fn consumer<C: rdkafka::consumer::ConsumerContext>(
        &self,
        group: &str,
        settings: &[(&str, &str)],
        context: C,
    ) -> BaseConsumer<C> {
        let mut config = self.client(&[
            ("group.id", group),
            ("auto.offset.reset", "earliest"),
            ("enable.auto.commit", "false"),
        ]);
        if !settings.contains(&("group.protocol", "consumer")) {
            // With KIP-848 the broker decides about these.
            config.set("session.timeout.ms", "10000").set("heartbeat.interval.ms", "200");
        }
        for (key, value) in settings {
            config.set(*key, *value);
        }
        config.create_with_context(context).unwrap()
    }

    pub async fn create(&self, topic: &str, partitions: i32) {
        let new = NewTopic::new(topic, partitions, TopicReplication::Fixed(1));
        let created = self.admin().create_topics([&new], &AdminOptions::new()).await.unwrap();
        assert_eq!(created, [Ok(topic.to_owned())]);
    }

    /// Sends `v0`, `v1` … with the keys `k0`, `k1` … and waits for all; their partitions and offsets.
    pub async fn fill(&self, producer: &FutureProducer, topic: &str, count: usize) -> Vec<(i32, i64)> {
        let mut waiting = Vec::new();
        for number in 0..count {
            let (key, value) = (format!("k{number}"), format!("v{number}"));
            let headers = OwnedHeaders::new();
            let record = FutureRecord::to(topic).key(&key).payload(&value).headers(headers);
            waiting.push(producer.send_result(record).map_err(|(error, _)| error).unwrap());
        }
        let mut placed = Vec::new();
        for delivery in waiting {
            let delivered = delivery.await.unwrap().map_err(|(error, _)| error).unwrap();
            placed.push((delivered.partition, delivered.offset));
        }
        placed
    }

    /// Every record of a topic, by a consumer without commits; exactly `count` of them.
    pub fn all(&self, topic: &str, count: usize) -> Vec<Seen> {
        let consumer =
            self.consumer(&format!("all-of-{topic}"), &[], rdkafka::consumer::DefaultConsumerContext);
        consumer.subscribe(&[topic]).unwrap();
        let seen = take(&consumer, count);
        let more = consumer.poll(Duration::from_millis(200));
        assert!(more.is_none(), "more than {count} records in {topic}");
        seen
    }
}

/// Polls until `count` records have come.
pub fn take<C: rdkafka::consumer::ConsumerContext>(consumer: &BaseConsumer<C>, count: usize) -> Vec<Seen> {
    let mut seen = Vec::new();
    soon(&format!("{count} records"), || {
        if let Some(message) = consumer.poll(Duration::from_millis(100)) {
            seen.push(Seen::of(&message.unwrap()));
        }
        seen.len() == count
    });
    seen
}

/// Tries again until it holds; each try waits a little by itself, as a poll does.
pub fn soon(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "not in time: {what}");
    }
}
