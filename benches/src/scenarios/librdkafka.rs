//! librdkafka against both brokers, by turns. Built with `--features rdkafka` (make and a C compiler).

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer as _};
use rdkafka::error::KafkaError;
use rdkafka::message::Message as _;
use rdkafka::producer::{BaseProducer, BaseRecord, DeliveryResult, Producer as _, ProducerContext};
use rdkafka::types::RDKafkaErrorCode;
use rdkafka::{ClientContext, Offset, TopicPartitionList};

use super::stock_clients::{self, Speeds};
use super::{Run, Scenario};
use crate::bench::Bench;
use crate::error::{Error, Result};
use crate::load::{latencies, nanos, topic};
use crate::machine;
use crate::measure::as_f64;
use crate::table::Row;
use crate::target::Side;

pub const SCENARIO: Scenario = Scenario {
    name: "librdkafka",
    about: "librdkafka's producer (acks=1) and consumer, 1 KB records, five alternating runs",
    run: Run::Own(run),
};

const RECORDS: u64 = 1_000_000;
const RECORD: usize = 1000;
const PATIENCE: Duration = Duration::from_secs(60);

fn run(bench: &mut Bench) -> Result<Vec<Row>> {
    stock_clients::alternate(bench, SCENARIO.name, both)
}

fn both(bench: &mut Bench, side: Side, speeds: &mut Speeds) -> Result<()> {
    let (name, records) = (format!("librdkafka-{}", bench.number()), bench.scaled(RECORDS));
    let addr = bench.broker(side)?.server.addr;
    let topic = topic::create(addr, &name, 1)?;
    machine::drain()?;
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", addr.to_string());
    let megabytes = as_f64(records) * as_f64(RECORD as u64) / 1e6;
    let (seconds, p99) = produce(&config, &name, records).map_err(|error| failed(&error))?;
    speeds.producer.push(Some(megabytes / seconds));
    speeds.p99.push(Some(p99));
    let seconds = consume(&config, &name, records).map_err(|error| failed(&error))?;
    speeds.consumer.push(Some(megabytes / seconds));
    topic::delete(addr, &topic)?;
    machine::drain()
}

fn failed(error: &KafkaError) -> Error {
    Error::Answer(format!("librdkafka: {error}"))
}

/// Measures from each record's send to its report.
struct Reports {
    begun: Instant,
    latency: std::sync::Mutex<(Histogram<u64>, Option<KafkaError>)>,
}

impl ClientContext for Reports {}

impl ProducerContext for Reports {
    type DeliveryOpaque = Box<u64>;

    fn delivery(&self, report: &DeliveryResult<'_>, sent_at: Box<u64>) {
        let mut kept = self.latency.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match report {
            Ok(_) => kept.0.saturating_record(nanos(self.begun.elapsed()).saturating_sub(*sent_at)),
            Err((error, _)) => kept.1 = Some(error.clone()),
        }
    }
}

/// Seconds for all records, and the 99th percentile in ms.
fn produce(config: &ClientConfig, topic: &str, records: u64) -> std::result::Result<(f64, f64), KafkaError> {
    let histogram = latencies().map_err(|error| KafkaError::ClientCreation(error.to_string()))?;
    let reports = Reports { begun: Instant::now(), latency: std::sync::Mutex::new((histogram, None)) };
    let producer: BaseProducer<Reports> =
        config.clone().set("acks", "1").set("linger.ms", "5").create_with_context(reports)?;
    let payload = vec![b'x'; RECORD];
    for _ in 0..records {
        let sent_at = Box::new(nanos(producer.context().begun.elapsed()));
        let mut record = BaseRecord::<(), [u8], _>::with_opaque_to(topic, sent_at).payload(&payload[..]);
        loop {
            match producer.send(record) {
                Ok(()) => break,
                // The client's queue is full: the broker, or the client's own thread, is what is waited for.
                Err((KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull), back)) => {
                    producer.poll(Duration::from_millis(1));
                    record = back;
                }
                Err((other, _)) => return Err(other),
            }
        }
        producer.poll(Duration::ZERO);
    }
    producer.flush(PATIENCE)?;
    let reports = producer.context();
    let seconds = reports.begun.elapsed().as_secs_f64();
    let kept = reports.latency.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    match &kept.1 {
        Some(error) => Err(error.clone()),
        None => Ok((seconds, as_f64(kept.0.value_at_quantile(0.99)) / 1e6)),
    }
}

/// Seconds from the first record's arrival to the last one's.
fn consume(config: &ClientConfig, topic: &str, records: u64) -> std::result::Result<f64, KafkaError> {
    let consumer: BaseConsumer =
        config.clone().set("group.id", topic).set("enable.auto.commit", "false").create()?;
    let mut whole = TopicPartitionList::new();
    whole.add_partition_offset(topic, 0, Offset::Beginning)?;
    consumer.assign(&whole)?;
    let (mut first, mut bytes) = (None, 0);
    for _ in 0..records {
        let Some(message) = consumer.poll(PATIENCE) else {
            return Err(KafkaError::MessageConsumption(RDKafkaErrorCode::OperationTimedOut));
        };
        bytes += message?.payload().map_or(0, <[u8]>::len);
        first.get_or_insert_with(Instant::now);
    }
    debug_assert_eq!(bytes as u64, records * RECORD as u64);
    Ok(first.map_or(f64::NAN, |first| first.elapsed().as_secs_f64()))
}
