//! Runs of a stock client against both brokers by turns: what its user sees.

use crate::bench::Bench;
use crate::error::Result;
use crate::table::Row;
use crate::target::Side;

const REPEATS: usize = 5;

/// What one side's runs gave.
#[derive(Default)]
pub struct Speeds {
    /// MB/s of the producer.
    pub producer: Vec<Option<f64>>,
    /// Its 99th percentile in ms, from the send to the callback.
    pub p99: Vec<Option<f64>>,
    /// MB/s of the consumer.
    pub consumer: Vec<Option<f64>>,
}

/// Runs the client's producer and consumer on each side by turns.
pub fn alternate(
    bench: &mut Bench,
    scenario: &str,
    client: fn(&mut Bench, Side, &mut Speeds) -> Result<()>,
) -> Result<Vec<Row>> {
    let repeats = if bench.args.quick { 1 } else { REPEATS };
    let (mut kafka, mut barnabas) = (Speeds::default(), Speeds::default());
    // The first pass warms both brokers up and is not counted.
    for pass in 0..=repeats {
        let mut order = bench.brokers();
        if pass % 2 == 1 {
            order.reverse();
        }
        for side in order {
            let mut unseen = Speeds::default();
            let speeds = match side {
                _ if pass == 0 => &mut unseen,
                Side::Kafka => &mut kafka,
                _ => &mut barnabas,
            };
            client(bench, side, speeds)?;
        }
    }
    let row = |figure, unit, of: fn(&Speeds) -> &[Option<f64>]| {
        Row::of(scenario, figure, unit, of(&kafka), of(&barnabas), &[])
    };
    Ok(vec![
        row("producer throughput", "MB/s", |speeds| &speeds.producer),
        row("producer p99", "ms", |speeds| &speeds.p99),
        row("consumer throughput", "MB/s", |speeds| &speeds.consumer),
    ])
}
