//! Barnabas and Apache Kafka under the same load, side by side in one run, and beside them what the machine itself
//! charges for the same work.
//!
//! A *scenario* (`scenarios/`) is mostly a *case* as data: topic, load, loops to compare with. Every *round* takes all
//! *sides* through it by turns (`rounds`); a *measurement* (`measure`) is the CPU time of a *server* (`target/`) while
//! the load generator (`load/`) drives it. The table's ratios are taken within rounds (`stats`, `table`).
//!
//! `cargo run --release -p benches -- --help` says how to run it.

mod args;
mod bench;
mod case;
mod cpu;
mod error;
mod limit;
mod load;
mod machine;
mod measure;
mod rounds;
mod scenarios;
mod stats;
mod syscalls;
mod table;
mod target;

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser as _;

use args::{Args, Own};
use bench::Bench;
use case::Extras;
use error::Result;
use scenarios::{Run, Scenario};
use table::Row;

fn main() -> ExitCode {
    let args = Args::parse();
    let done = match &args.own {
        Some(Own::LimitLoop(options)) => limit::serve(options).map(|()| true),
        None if args.list => {
            for scenario in scenarios::ALL {
                println!("{:18} {}", scenario.name, scenario.about);
            }
            Ok(true)
        }
        None => run(args),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("benches: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the chosen scenarios; false if one of them failed.
fn run(args: Args) -> Result<bool> {
    let chosen = |scenario: &&Scenario| match args.filters.as_slice() {
        [] => !scenario.is_extra(),
        filters => filters.iter().any(|filter| scenario.name.contains(filter.as_str())),
    };
    let chosen = scenarios::ALL.iter().filter(chosen).collect::<Vec<_>>();
    let results = match (&args.results, args.quick) {
        (Some(file), _) => Some(file.clone()),
        (None, true) => None,
        (None, false) => Some(bench::workspace().join("benches/RESULTS.md")),
    };
    let count_only = args.syscalls;
    eprintln!("{}; load average {}", machine::description(), machine::load_average());
    let mut bench = Bench::new(args)?;
    let (mut rows, mut whole) = (Vec::new(), true);
    let (until, count) = (Instant::now() + bench.args.budget(), chosen.len());
    for (nth, scenario) in chosen.into_iter().enumerate() {
        // What one scenario leaves of its share is for those after it.
        let left = until.saturating_duration_since(Instant::now());
        let patience = left / u32::try_from(count - nth).unwrap_or(1);
        eprintln!("{}: {}", scenario.name, scenario.about);
        let case = match &scenario.run {
            Run::Compare(case) => Ok((case, Extras::NONE)),
            Run::With(case, extras) => Ok((case, *extras)),
            Run::Own(run) => Err(run),
        };
        let outcome = match case {
            Ok((case, extras)) if count_only => syscalls::count(&mut bench, case, &extras).map(|text| {
                print!("{text}");
                Vec::new()
            }),
            Err(_) if count_only => Ok(Vec::new()),
            Ok((case, extras)) => rounds::compare(&mut bench, case, &extras, patience),
            Err(run) => run(&mut bench),
        };
        match outcome {
            Ok(measured) => rows.extend(measured),
            Err(error) => {
                eprintln!("  failed: {error}");
                rows.push(Row::failed(scenario.name, &error.to_string()));
                whole = false;
                // Whatever state they are in, the next scenario shall not inherit it.
                bench.stop_brokers();
            }
        }
    }
    drop(bench);
    if !count_only {
        println!("{}", table::markdown(&rows));
    }
    match results {
        Some(file) if !count_only => table::keep(&file, &command_line(), &rows).map(|()| whole),
        _ => Ok(whole),
    }
}

/// The command as one would type it, without where this program lies.
fn command_line() -> String {
    let arguments = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
    format!("cargo run --release -p benches -- {arguments}").trim_end_matches(" -- ").to_owned()
}
