//! The official Java perf tools against both brokers, by turns: what a user of stock clients sees.

use super::stock_clients::{self, Speeds};
use super::{Run, Scenario};
use crate::bench::Bench;
use crate::error::{Error, Result};
use crate::load::topic;
use crate::machine;
use crate::table::Row;
use crate::target::Side;

pub const SCENARIO: Scenario = Scenario {
    name: "java-perf",
    about: "kafka-producer-perf-test and kafka-consumer-perf-test, 1 KB records, five alternating runs",
    run: Run::Own(run),
};

const RECORDS: u64 = 1_000_000;
const PRODUCER: &str = "org.apache.kafka.tools.ProducerPerformance";
const CONSUMER: &str = "org.apache.kafka.tools.ConsumerPerformance";

fn run(bench: &mut Bench) -> Result<Vec<Row>> {
    stock_clients::alternate(bench, SCENARIO.name, both_tools)
}

fn both_tools(bench: &mut Bench, side: Side, speeds: &mut Speeds) -> Result<()> {
    let (name, records) = (format!("java-perf-{}", bench.number()), bench.scaled(RECORDS).to_string());
    let addr = bench.broker(side)?.server.addr;
    let at = addr.to_string();
    let topic = topic::create(addr, &name, 1)?;
    machine::drain()?;
    let to = ["--bootstrap-server", &at, "--topic", &name];
    let produce = ["--num-records", &records, "--record-size", "1000", "--throughput", "-1"];
    let printed = bench.kafka.tool(PRODUCER, &[&to[..], &produce[..]].concat())?;
    let (speed, p99) = producer_figures(&printed).ok_or_else(|| unreadable(PRODUCER, &printed))?;
    speeds.producer.push(Some(speed));
    speeds.p99.push(Some(p99));
    let consume = ["--num-records", &records, "--timeout", "60000", "--hide-header"];
    let printed = bench.kafka.tool(CONSUMER, &[&to[..], &consume[..]].concat())?;
    speeds.consumer.push(Some(consumer_figure(&printed).ok_or_else(|| unreadable(CONSUMER, &printed))?));
    topic::delete(addr, &topic)?;
    machine::drain()
}

fn unreadable(tool: &str, printed: &str) -> Error {
    Error::Answer(format!("{tool} printed {:?}", printed.lines().last().unwrap_or_default()))
}

/// MB/s and the 99th percentile in ms, from the summary in the last line that has percentiles.
fn producer_figures(printed: &str) -> Option<(f64, f64)> {
    let line = printed.lines().rev().find(|line| line.contains("99th"))?;
    let speed = line.split_once('(')?.1.split_once(" MB/sec")?.0.parse().ok()?;
    let p99 = line.split(',').find_map(|part| part.trim().strip_suffix(" ms 99th"))?.parse().ok()?;
    Some((speed, p99))
}

/// MB/s of fetching alone, without the time to join the group: the ninth column.
fn consumer_figure(printed: &str) -> Option<f64> {
    let line = printed.lines().rev().find(|line| line.split(',').count() >= 10)?;
    line.split(',').nth(8)?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_lines_are_read() {
        let line = "1000 records sent, 2849.0 records/sec (2.72 MB/sec), 6.80 ms avg latency, 309.00 ms max \
                    latency, 5 ms 50th, 16 ms 95th, 20 ms 99th, 309 ms 99.9th.";
        assert_eq!(producer_figures(line), Some((2.72, 20.0)));
        let line = "2026-01-01 10:00:00:000, 2026-01-01 10:00:04:000, 95.4, 23.8, 100000, 25000.0, 3100, 900, 106.0, 111111.1";
        assert_eq!(consumer_figure(line), Some(106.0));
    }
}
