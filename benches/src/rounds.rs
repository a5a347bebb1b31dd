//! Rounds: every side by turns in rotating order, until the ratios within rounds agree or patience ends.

use std::time::{Duration, Instant};

use crate::bench::Bench;
use crate::case::{Case, Extras, Per, Timing};
use crate::error::Result;
use crate::measure::{self, Load, Measured, as_f64};
use crate::stats::Spread;
use crate::table::Row;
use crate::target::Side;

const MIN_ROUNDS: usize = 3;
/// Latencies at a steady pace scatter more than costs.
const MIN_STEADY_ROUNDS: usize = 10;
/// Warm-up ends when two neighbouring measurements of the reference differ by no more than this.
const FLAT: f64 = 0.04;
const WARM_UP_RUNS: usize = 12;

/// The measurements of one round.
#[derive(Default)]
struct Round {
    kafka: Option<Measured>,
    barnabas: Option<Measured>,
    limit: Option<(Measured, &'static str)>,
}

/// Puts all sides through a case, in about so much time.
pub fn compare(bench: &mut Bench, case: &Case, extras: &Extras, patience: Duration) -> Result<Vec<Row>> {
    let start = Instant::now();
    let mut load = Load { case, extras, drive: case.drive, per_second: 0.0 };
    match extras.timing {
        Timing::Quick => warm_up(bench, &load, patience / 3)?,
        Timing::Rate(rate) => {
            load.per_second = rate;
            warm_up(bench, &load, patience / 3)?;
        }
        Timing::HalfOf(quick) => {
            let quickly = Load { drive: quick, ..load };
            warm_up(bench, &quickly, patience / 3)?;
            let side = if bench.has(Side::Kafka) { Side::Kafka } else { Side::Barnabas };
            load.per_second = measure::broker(bench, side, &quickly)?.throughput(case.per) / 2.0;
            eprintln!("  {:.0} requests a second", load.per_second);
        }
    }
    let (min, max) = match (bench.args.quick, extras.timing) {
        (true, _) => (1, 2),
        (false, Timing::Quick) => (MIN_ROUNDS, bench.args.rounds),
        (false, _) => (MIN_STEADY_ROUNDS, bench.args.rounds.max(MIN_STEADY_ROUNDS)),
    };
    let mut rounds = Vec::new();
    while rounds.len() < max {
        rounds.push(round(bench, &load, rounds.len())?);
        let settled = rounds.len() >= min && settled(&rounds, case.per);
        if settled || start.elapsed() > patience {
            break;
        }
    }
    Ok(rows(case, &rounds))
}

/// A JVM costs twice as much until it has compiled what is hot; and files, sockets and tables are warm for all.
fn warm_up(bench: &mut Bench, load: &Load<'_>, patience: Duration) -> Result<()> {
    if bench.has(Side::Barnabas) {
        measure::broker(bench, Side::Barnabas, load)?;
    }
    if !bench.has(Side::Kafka) {
        return Ok(());
    }
    let (start, mut last, mut flat) = (Instant::now(), f64::NAN, 0);
    for run in 1..=WARM_UP_RUNS {
        let cost = measure::broker(bench, Side::Kafka, load)?.cost(load.case.per);
        eprintln!("  warming Kafka up: run {run}, cost {cost:.3}");
        // Costs that still fall are not flat; one that rises is noise, and as warm as it gets.
        flat = if last - cost <= last * FLAT { flat + 1 } else { 0 };
        last = cost;
        if flat >= 2 || bench.args.quick || start.elapsed() > patience {
            break;
        }
    }
    Ok(())
}

fn round(bench: &mut Bench, load: &Load<'_>, number: usize) -> Result<Round> {
    let mut order = [Side::Kafka, Side::Barnabas, Side::Limit];
    let turns = number % order.len();
    order.rotate_left(turns);
    let per = load.case.per;
    let mut round = Round::default();
    let mut report = format!("  round {}:", number + 1);
    for side in order {
        if !bench.has(side) {
            continue;
        }
        let cost = match side {
            Side::Kafka => round.kafka.insert(measure::broker(bench, side, load)?).cost(per),
            Side::Barnabas => round.barnabas.insert(measure::broker(bench, side, load)?).cost(per),
            Side::Limit => {
                round.limit = cheapest_limit(bench, load)?;
                round.limit.as_ref().map_or(f64::NAN, |(measured, _)| measured.cost(per))
            }
        };
        report.push_str(&format!(" {} {cost:.3}", side.name()));
    }
    eprintln!("{report}");
    Ok(round)
}

fn cheapest_limit(bench: &mut Bench, load: &Load<'_>) -> Result<Option<(Measured, &'static str)>> {
    let per = load.case.per;
    let mut best: Option<(Measured, &'static str)> = None;
    for plain in load.case.limits {
        let measured = measure::limit(bench, plain, load)?;
        if best.as_ref().is_none_or(|(other, _)| measured.cost(per) < other.cost(per)) {
            best = Some((measured, plain.name));
        }
    }
    Ok(best)
}

fn settled(rounds: &[Round], per: Per) -> bool {
    let cost = |measured: &Measured| measured.cost(per);
    let row = row("", "", "", rounds, &cost);
    [row.to_kafka, row.to_limit].into_iter().flatten().all(|spread| spread.settled())
}

/// A figure that is read off a measurement.
type Figure<'a> = &'a dyn Fn(&Measured) -> f64;

fn row(scenario: &str, figure: &str, unit: &str, rounds: &[Round], read: Figure<'_>) -> Row {
    let kafka = rounds.iter().map(|round| round.kafka.as_ref().map(read)).collect::<Vec<_>>();
    let barnabas = rounds.iter().map(|round| round.barnabas.as_ref().map(read)).collect::<Vec<_>>();
    let limit = rounds.iter().map(|round| round.limit.as_ref().map(|(measured, _)| read(measured)));
    Row::of(scenario, figure, unit, &kafka, &barnabas, &limit.collect::<Vec<_>>())
}

fn rows(case: &Case, rounds: &[Round]) -> Vec<Row> {
    let (cost, speed) = match case.per {
        Per::Gigabyte => ("s/GB".to_owned(), "MB/s".to_owned()),
        Per::Request(unit) => (format!("µs/{unit}"), format!("{unit}s/s")),
    };
    let mut of_cost = row(case.name, "broker CPU", &cost, rounds, &|measured| measured.cost(case.per));
    of_cost.note = limit_names(rounds);
    let mut of_speed =
        row(case.name, "throughput", &speed, rounds, &|measured| measured.throughput(case.per));
    of_speed.note = busy_generator(rounds);
    let mut rows = vec![of_cost, of_speed];
    for (name, quantile) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)] {
        rows.push(row(case.name, name, "ms", rounds, &|measured| measured.latency_ms(quantile)));
    }
    let memory = row(case.name, "memory after", "MB", rounds, &|measured| as_f64(measured.resident) / 1e6);
    rows.push(memory.without_limit());
    rows
}

/// Which loops were the cheapest ones.
fn limit_names(rounds: &[Round]) -> String {
    let mut names =
        rounds.iter().filter_map(|round| round.limit.as_ref()).map(|(_, name)| *name).collect::<Vec<_>>();
    names.sort_unstable();
    names.dedup();
    names.join(" or ")
}

/// How busy this program was: near 100% it is its own speed that was measured.
fn busy_generator(rounds: &[Round]) -> String {
    let busy = |measured: Option<&Measured>| {
        measured
            .map(|measured| 100.0 * measured.own_cpu.as_secs_f64() / measured.outcome.elapsed.as_secs_f64())
    };
    let of = |read: &dyn Fn(&Round) -> Option<f64>| {
        Spread::of(&rounds.iter().filter_map(read).collect::<Vec<_>>())
            .map(|spread| format!("{:.0}%", spread.median))
    };
    let parts = [
        of(&|round| busy(round.kafka.as_ref())),
        of(&|round| busy(round.barnabas.as_ref())),
        of(&|round| busy(round.limit.as_ref().map(|(measured, _)| measured))),
    ];
    let parts = parts.into_iter().map(|part| part.unwrap_or_else(|| "–".to_owned())).collect::<Vec<_>>();
    format!("generator busy {}", parts.join(" / "))
}
