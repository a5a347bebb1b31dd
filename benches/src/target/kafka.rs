//! The reference Kafka and its tools, by the project's script (`compat-tests/kafka`).

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::guard::Guard;
use super::{End, Server, await_answer, free_port, last_words, local};
use crate::error::{Attempt, Error, Result};

/// What Kafka's own start script gives its JVM; large files leave soon after their topics,
/// and what is beyond the retention soon, too.
const JVM: &str = "-Xms1G -Xmx1G -XX:+UseG1GC -XX:MaxGCPauseMillis=20 -XX:InitiatingHeapOccupancyPercent=35";
const SETTINGS: &[&str] = &["log.segment.delete.delay.ms=500", "log.retention.check.interval.ms=5000"];
const TOOL_JVM: &[&str] = &["-Xmx512M", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20"];

/// Where Kafka comes from.
pub struct Kafka {
    /// The script that fetches, starts and stops it.
    pub script: PathBuf,
}

impl Kafka {
    /// Starts a broker with its data in `dir`, which is formatted if it is empty; only then do `more` settings count.
    pub fn start(&self, dir: &Path, more: &[&str]) -> Result<Server> {
        fs::create_dir_all(dir).attempt(format!("creating {}", dir.display()))?;
        let port = known_port(dir).map_or_else(free_port, Ok)?;
        let log = dir.join("start.log");
        let output = File::create(&log).attempt(format!("creating {}", log.display()))?;
        let ending = [self.script.clone().into(), "stop".into(), dir.into()];
        let guard = Some(Guard::new(&ending)?);
        let since = Instant::now();
        let mut starting = Command::new(&self.script)
            .arg("start")
            .arg(dir)
            .arg(port.to_string())
            .args(SETTINGS)
            .args(more)
            .env("BARNABAS_KAFKA_OPTS", JVM)
            .stdin(Stdio::null())
            .stdout(output.try_clone().attempt("start.log")?)
            .stderr(output)
            .spawn()
            .attempt(format!("starting {}", self.script.display()))?;
        let ended = |starting: &mut std::process::Child| match starting.try_wait() {
            Ok(Some(status)) if !status.success() => {
                Err(Error::Setup(format!("Kafka did not start: {}", last_words(&log))))
            }
            _ => Ok(()),
        };
        let started = await_answer(local(port), since, || ended(&mut starting)).and_then(|started_in| {
            starting.wait().attempt("starting Kafka")?;
            Ok((started_in, read_pid(dir)?))
        });
        let (started_in, pid) = started.inspect_err(|_| stop(&self.script, dir, 0))?;
        let end = End::Script { script: self.script.clone(), dir: dir.to_owned() };
        Ok(Server { addr: local(port), pid, started_in, end, guard })
    }

    /// Fetches what is needed, so that no measurement waits for it.
    pub fn fetch(&self) -> Result<()> {
        let status = Command::new(&self.script).arg("fetch").stdin(Stdio::null()).status();
        let status = status.attempt(format!("running {}", self.script.display()))?;
        if status.success() {
            return Ok(());
        }
        Err(Error::Setup(format!("{} fetch failed", self.script.display())))
    }

    /// What one of Kafka's tools prints, run in a JVM of the size that Kafka's own scripts give it.
    pub fn tool(&self, class: &str, arguments: &[&str]) -> Result<String> {
        let path =
            Command::new(&self.script).arg("classpath").output().attempt("asking for the class path")?;
        let path = String::from_utf8_lossy(&path.stdout).trim().to_owned();
        let output = Command::new("java")
            .args(TOOL_JVM)
            .arg("-cp")
            .arg(path)
            .arg(class)
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .attempt(format!("running {class}"))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let complaint =
            String::from_utf8_lossy(&output.stderr).lines().take(3).collect::<Vec<_>>().join(" / ");
        Err(Error::Setup(format!("{class} failed: {complaint}")))
    }
}

/// A formatted directory stays with the port it was formatted for.
fn known_port(dir: &Path) -> Option<u16> {
    let properties = fs::read_to_string(dir.join("server.properties")).ok()?;
    let listeners = properties.lines().find_map(|line| line.strip_prefix("listeners="))?;
    let first = listeners.split(',').next()?;
    first.rsplit_once(':')?.1.trim().parse().ok()
}

fn read_pid(dir: &Path) -> Result<u32> {
    let path = dir.join("pid");
    let text = fs::read_to_string(&path).attempt(format!("reading {}", path.display()))?;
    text.trim().parse().map_err(|_| Error::Setup(format!("{} holds no process id", path.display())))
}

/// Stops a broker and waits until its process is gone.
pub(super) fn stop(script: &Path, dir: &Path, pid: u32) {
    // Nothing is left to do here if it fails: the process is waited for below, and the run ends anyway.
    let _ = Command::new(script).arg("stop").arg(dir).stdin(Stdio::null()).stderr(Stdio::null()).status();
    let patience = Instant::now() + Duration::from_secs(40);
    while Path::new(&format!("/proc/{pid}")).exists() && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(20));
    }
}
