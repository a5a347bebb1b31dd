//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::limit;
use crate::target::Side;

/// Barnabas and Apache Kafka under the same load, side by side in one run.
#[derive(Clone, Debug, clap::Parser)]
#[command(name = "benches", args_conflicts_with_subcommands = true)]
pub struct Args {
    /// Only scenarios whose name contains one of these; by default all of the main table.
    pub filters: Vec<String>,
    /// List the scenarios and end.
    #[arg(long)]
    pub list: bool,
    /// At most so many rounds per scenario; fewer if the ratios settle before.
    #[arg(long, default_value_t = 15)]
    pub rounds: usize,
    /// At most about so many minutes for the whole run, shared by its scenarios; by default 20, with --quick 5.
    #[arg(long)]
    pub minutes: Option<u64>,
    /// Few rounds, small loads, a short warm-up: shows that all works, measures nothing.
    #[arg(long)]
    pub quick: bool,
    /// Instead of measuring, count the system calls per request (by strace).
    #[arg(long)]
    pub syscalls: bool,
    /// Who takes part.
    #[arg(long, value_delimiter = ',', default_value = "kafka,barnabas,limit")]
    pub sides: Vec<Side>,
    /// The script that fetches, starts and stops the reference Kafka.
    #[arg(long, value_name = "SCRIPT")]
    pub kafka: Option<PathBuf>,
    /// A built Barnabas; by default the release build is made first.
    #[arg(long, value_name = "PROGRAM")]
    pub barnabas: Option<PathBuf>,
    /// A shell command that runs the broker to compare; {config}, {dir} and {port} are replaced.
    #[arg(long, value_name = "COMMAND", conflicts_with = "barnabas")]
    pub b_command: Option<String>,
    /// A broker to compare that runs already: its address and process id.
    #[arg(long, value_name = "ADDR,PID", value_parser = running, conflicts_with_all = ["barnabas", "b_command"])]
    pub b_at: Option<(SocketAddr, u32)>,
    /// Where the brokers keep their data during the run; emptied afterwards.
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Where the table goes, newest on top; nothing is written by --quick unless this is given.
    #[arg(long, value_name = "FILE")]
    pub results: Option<PathBuf>,
    /// What the harness runs of itself.
    #[command(subcommand)]
    pub own: Option<Own>,
}

impl Args {
    /// The time for all scenarios together.
    pub fn budget(&self) -> Duration {
        Duration::from_secs(self.minutes.unwrap_or(if self.quick { 5 } else { 20 }).saturating_mul(60))
    }

    /// A load ends after this time, however much it has sent.
    pub fn load_within(&self) -> Duration {
        match (self.syscalls, self.quick) {
            (true, _) => Duration::MAX,
            (false, true) => Duration::from_millis(500),
            (false, false) => Duration::from_millis(1500),
        }
    }
}

/// Parts of the harness that are processes of their own.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum Own {
    /// The plain loop.
    #[command(hide = true)]
    LimitLoop(limit::Options),
}

fn running(text: &str) -> Result<(SocketAddr, u32), String> {
    let (addr, pid) = text.split_once(',').ok_or("ADDR,PID is expected, such as 127.0.0.1:9092,4711")?;
    let addr = addr.parse().map_err(|error| format!("{addr}: {error}"))?;
    Ok((addr, pid.parse().map_err(|error| format!("{pid}: {error}"))?))
}
