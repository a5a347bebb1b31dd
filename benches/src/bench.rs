//! What a run has: its options, its directory, and the brokers that run all the time and are driven by turns.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::args::Args;
use crate::error::{Attempt, Error, Result};
use crate::target::barnabas::Barnabas;
use crate::target::kafka::Kafka;
use crate::target::{Server, Side};

/// A run.
pub struct Bench {
    /// The command line.
    pub args: Args,
    /// The reference.
    pub kafka: Kafka,
    /// The broker under test.
    pub barnabas: Barnabas,
    dir: PathBuf,
    counter: u32,
    kafka_server: Option<(Server, PathBuf)>,
    barnabas_server: Option<(Server, PathBuf)>,
}

/// A broker that runs, and where its topics are.
#[derive(Clone, Copy)]
pub struct Running<'a> {
    /// The process.
    pub server: &'a Server,
    /// Its directory.
    pub dir: &'a Path,
}

impl Bench {
    /// Fetches and builds what the chosen sides need.
    pub fn new(args: Args) -> Result<Bench> {
        let workspace = workspace();
        let script = args.kafka.clone().unwrap_or_else(|| workspace.join("compat-tests/kafka"));
        let kafka = Kafka { script };
        if args.sides.contains(&Side::Kafka) {
            kafka.fetch()?;
        }
        let barnabas = match (&args.barnabas, &args.b_command, args.b_at) {
            (Some(program), _, _) => Barnabas::Binary(program.clone()),
            (_, Some(command), _) => Barnabas::Command(command.clone()),
            (_, _, Some((addr, pid))) => Barnabas::Running { addr, pid },
            _ if args.sides.contains(&Side::Barnabas) => Barnabas::Binary(build(&workspace)?),
            _ => Barnabas::Binary(PathBuf::new()),
        };
        let dir = args.dir.clone().unwrap_or_else(|| workspace.join("target/bench-data"));
        remove_leftovers(&dir);
        let dir = dir.join(format!("{RUN}{}", std::process::id()));
        fs::create_dir_all(&dir).attempt(format!("creating {}", dir.display()))?;
        let dir = dir.canonicalize().attempt("finding the run's directory")?;
        Ok(Bench { args, kafka, barnabas, dir, counter: 0, kafka_server: None, barnabas_server: None })
    }

    /// Does a side take part?
    pub fn has(&self, side: Side) -> bool {
        self.args.sides.contains(&side)
    }

    /// The brokers that take part, in a fixed order.
    pub fn brokers(&self) -> Vec<Side> {
        [Side::Kafka, Side::Barnabas].into_iter().filter(|side| self.has(*side)).collect()
    }

    /// The brokers that can be started anew: all but one that somebody else runs.
    pub fn startable(&self) -> Vec<Side> {
        let foreign = matches!(self.barnabas, Barnabas::Running { .. });
        self.brokers().into_iter().filter(|side| *side == Side::Kafka || !foreign).collect()
    }

    /// Full size, or a fraction of it that merely shows that all works.
    pub fn scaled(&self, count: u64) -> u64 {
        if self.args.quick || self.args.syscalls { (count / 16).max(64) } else { count }
    }

    /// A number that no other topic or directory of this run has.
    pub fn number(&mut self) -> u32 {
        self.counter += 1;
        self.counter
    }

    /// A path in the run's directory that does not exist yet.
    pub fn fresh_dir(&mut self, label: &str) -> PathBuf {
        let number = self.number();
        self.dir.join(format!("{label}-{number}"))
    }

    /// A broker of its own, outside the comparison by turns.
    pub fn start(&self, side: Side, dir: &Path) -> Result<Server> {
        self.start_with(side, dir, &[])
    }

    /// The same with settings, each as `key=value`.
    pub fn start_with(&self, side: Side, dir: &Path, more: &[&str]) -> Result<Server> {
        match side {
            Side::Kafka => self.kafka.start(dir, more),
            Side::Barnabas => self.barnabas.start(dir, more),
            Side::Limit => Err(Error::Setup("a plain loop belongs to a scenario".to_owned())),
        }
    }

    /// The broker of a side, started when first asked for.
    pub fn broker(&mut self, side: Side) -> Result<Running<'_>> {
        if self.slot(side).is_none() {
            let dir = self.fresh_dir(side.name());
            let server = self.start(side, &dir)?;
            *self.slot(side) = Some((server, dir));
        }
        match self.slot(side) {
            Some((server, dir)) => Ok(Running { server, dir }),
            None => Err(Error::Setup(format!("{} does not run", side.name()))),
        }
    }

    /// Stops both brokers, for scenarios that start their own.
    pub fn stop_brokers(&mut self) {
        self.kafka_server = None;
        self.barnabas_server = None;
    }

    fn slot(&mut self, side: Side) -> &mut Option<(Server, PathBuf)> {
        if side == Side::Kafka { &mut self.kafka_server } else { &mut self.barnabas_server }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.stop_brokers();
        // Left-overs cost disk space only, and the next run has a directory of its own.
        let _ = fs::remove_dir_all(&self.dir);
    }
}

const RUN: &str = "run-";

/// Removes what runs have left that were killed.
fn remove_leftovers(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid =
            name.to_str().and_then(|name| name.strip_prefix(RUN)).and_then(|pid| pid.parse::<u32>().ok());
        if pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            // It only costs disk space, and the next run tries again.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The directory of the workspace that this program was built from.
pub fn workspace() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// What is measured is what the sources say now.
fn build(workspace: &Path) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(workspace).args(["build", "--release", "--quiet", "--bin", "barnabas"]);
    let status = command.status().attempt("running cargo")?;
    if !status.success() {
        return Err(Error::Setup("Barnabas does not build".to_owned()));
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), PathBuf::from);
    Ok(target.join("release/barnabas"))
}
