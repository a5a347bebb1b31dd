//! System calls per request, counted by `strace -c -f` while the load runs.
//!
//! strace slows a server down, so more requests gather in each read: the counts of pipelined loads are lower bounds.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::bench::Bench;
use crate::case::{Case, Extras, Stage, Timing};
use crate::error::{Attempt, Error, Result};
use crate::load::topic::{self, Topic};
use crate::measure::as_f64;
use crate::target::{Server, Side};

/// A steady pace that a traced server can follow.
const TRACED_PER_SECOND: f64 = 500.0;

/// One line per side: its most frequent calls, each per request.
pub fn count(bench: &mut Bench, case: &Case, extras: &Extras) -> Result<String> {
    let mut text = String::new();
    let (requests, filled) =
        (bench.scaled(case.requests), case.fill.map_or(0, |(_, count)| bench.scaled(count)));
    let within = bench.args.load_within();
    let per_second = match extras.timing {
        Timing::Rate(rate) => rate,
        Timing::Quick | Timing::HalfOf(_) => TRACED_PER_SECOND,
    };
    let report = bench.fresh_dir("strace");
    for side in bench.brokers() {
        let name = format!("{}-{}", case.name, bench.number());
        let running = bench.broker(side)?;
        let addr = running.server.addr;
        let topic = topic::create_with(addr, &name, case.partitions, extras.configs)?;
        if let Some((filling, _)) = case.fill {
            topic::fill(addr, &topic, filling, filled)?;
        }
        let stage = Stage { addr, topic, requests, filled, within, per_second };
        let counts = traced(running.server, case, &stage, &report)?;
        topic::delete(addr, &stage.topic)?;
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{:18} {:28} {counts}", case.name, side.name());
    }
    let limits = if bench.has(Side::Limit) { case.limits } else { &[] };
    for plain in limits {
        let server = plain.start(&bench.fresh_dir("loop"))?;
        let topic = Topic { name: String::new(), id: [0; 16], partitions: case.partitions };
        let stage = Stage { addr: server.addr, topic, requests, filled, within, per_second };
        let counts = traced(&server, case, &stage, &report)?;
        let _ = writeln!(text, "{:18} {:28} {counts}", case.name, plain.name);
    }
    Ok(text)
}

fn traced(server: &Server, case: &Case, stage: &Stage, report: &Path) -> Result<String> {
    let mut command = Command::new("strace");
    command.args(["-c", "-f", "-o"]).arg(report).arg("-p").arg(server.pid.to_string());
    let mut strace = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().attempt("running strace")?;
    let mut said = String::new();
    let mut errors = strace.stderr.take().map(BufReader::new);
    if let Some(errors) = &mut errors {
        errors.read_line(&mut said).attempt("reading from strace")?;
    }
    if !said.contains("attached") {
        return Err(Error::Setup(format!("strace: {}", said.trim())));
    }
    let outcome = (case.drive)(stage);
    if let Some(pid) = i32::try_from(strace.id()).ok().and_then(Pid::from_raw) {
        kill_process(pid, Signal::INT).attempt("stopping strace")?;
    }
    // Read to its end, so that strace is never stopped by a full pipe.
    for line in errors.into_iter().flat_map(BufReader::lines) {
        line.attempt("reading from strace")?;
    }
    strace.wait().attempt("waiting for strace")?;
    let table = std::fs::read_to_string(report).attempt("reading strace's table")?;
    Ok(per_request(&table, outcome?.requests))
}

/// The calls of strace's table that are made at least once in fifty requests, most frequent first.
fn per_request(table: &str, requests: u64) -> String {
    let mut calls =
        table.lines().filter_map(calls_of).map(|(name, calls)| (name, as_f64(calls) / as_f64(requests)));
    let mut calls = calls.by_ref().filter(|(_, each)| *each >= 0.02).collect::<Vec<_>>();
    calls.sort_by(|(_, left), (_, right)| right.total_cmp(left));
    calls.iter().map(|(name, each)| format!("{name} {each:.2}")).collect::<Vec<_>>().join(", ")
}

/// Name and number of calls of a line: `% time, seconds, usecs/call, calls, [errors,] syscall`.
fn calls_of(line: &str) -> Option<(&str, u64)> {
    let mut fields = line.split_whitespace();
    let calls = fields.nth(3)?.parse().ok()?;
    fields.last().filter(|name| *name != "total").map(|name| (name, calls))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_divided_by_requests() {
        let table = "\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 60.00    0.006000           6      1000           pwrite64
 40.00    0.004000           4       500        20 recvfrom
  0.00    0.000000           0         1           brk
------ ----------- ----------- --------- --------- ----------------
100.00    0.010000           6      1501        20 total
";
        assert_eq!(per_request(table, 1000), "pwrite64 1.00, recvfrom 0.50");
    }
}
