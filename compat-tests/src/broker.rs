//! A broker process with a data directory of its own.

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::suite;

/// How long a broker may take to start or to stop.
const PATIENCE: Duration = Duration::from_secs(60);

/// The id of every cluster that is formatted by a tool.
const CLUSTER: &str = "MkU3OEVBNTcwNTJENDM2Qg";

/// What every broker of the tests is told besides its place.
const SETTINGS: &[(&str, &str)] = &[
    ("group.initial.rebalance.delay.ms", "500"),
    ("group.consumer.heartbeat.interval.ms", "200"),
    ("group.consumer.min.heartbeat.interval.ms", "100"),
    ("group.consumer.assignment.interval.ms", "200"),
    ("offsets.topic.replication.factor", "1"),
    ("transaction.state.log.replication.factor", "1"),
    ("transaction.state.log.min.isr", "1"),
    ("share.coordinator.state.topic.replication.factor", "1"),
    ("share.coordinator.state.topic.min.isr", "1"),
];

/// Whose broker runs on a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// Ours.
    Barnabas,
    /// Apache Kafka, the reference.
    Kafka,
}

/// One running broker. It is killed when dropped, its directory with it unless the test fails.
#[derive(Debug)]
pub struct Broker {
    directory: Option<TempDir>,
    port: u16,
    product: Product,
    process: Option<Child>,
    /// What `format` is told about the node's place in its cluster; a node of its own needs none.
    format: Vec<String>,
}

impl Broker {
    /// Starts a broker with an empty data directory and waits until it answers.
    pub fn start() -> Broker {
        Broker::start_with(&[])
    }

    /// The same, with more settings.
    pub fn start_with(more: &[(&str, &str)]) -> Broker {
        let product = if Broker::is_reference() { Product::Kafka } else { Product::Barnabas };
        Broker::launched(product, product == Product::Kafka, more)
    }

    /// Starts a broker on a directory and with settings that both products take.
    pub fn start_as(product: Product, more: &[(&str, &str)]) -> Broker {
        Broker::launched(product, true, more)
    }

    fn launched(product: Product, as_kafka: bool, more: &[(&str, &str)]) -> Broker {
        let mut broker = Broker::prepared(product);
        broker.write_settings(&broker.place_alone(as_kafka), SETTINGS, more);
        broker.launch();
        broker
    }

    fn prepared(product: Product) -> Broker {
        let directory = tempfile::Builder::new().prefix("compat-").tempdir();
        let directory = directory.unwrap_or_else(|e| fail(&format!("no temporary directory: {e}")));
        let (port, format) = (free_port(), Vec::new());
        Broker { directory: Some(directory), port, product, process: None, format }
    }

    /// A node of a cluster, not started yet; [`Broker::is_to_be`] says which.
    pub(crate) fn node() -> Broker {
        Broker::prepared(if Broker::is_reference() { Product::Kafka } else { Product::Barnabas })
    }

    /// The node's settings, and what `format` is told before its first start.
    pub(crate) fn is_to_be(&mut self, place: &str, settings: &[(&str, &str)], format: &[&str]) {
        self.write_settings(place, settings, &[]);
        self.format = format.iter().map(|&word| word.to_owned()).collect();
    }

    /// Where a controller of this node listens.
    pub(crate) fn controller(&self) -> String {
        format!("127.0.0.1:{}", self.port.saturating_add(1))
    }

    /// Starts the other product, or the same, on the same directory and port.
    pub fn restart_as(&mut self, product: Product) {
        self.kill();
        self.product = product;
        self.launch();
    }

    /// `host:port` for clients; the same after a restart.
    pub fn bootstrap(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The directory that holds everything of this broker.
    pub fn directory(&self) -> &Path {
        self.directory.as_ref().map_or(Path::new(""), |directory| directory.path())
    }

    /// Its `log.dirs`.
    pub fn data(&self) -> PathBuf {
        self.directory().join("data")
    }

    /// Whether this is Apache Kafka, to see that a test itself is right.
    pub fn is_reference() -> bool {
        std::env::var("COMPAT_BROKER").is_ok_and(|broker| broker == "reference")
    }

    /// `kill -9`: no goodbye, nothing flushed.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            let killed = process.kill().and_then(|()| process.wait());
            killed.unwrap_or_else(|e| fail(&format!("the broker cannot be killed: {e}")));
        }
    }

    /// Asks it to stop (SIGTERM) and waits until it has.
    pub fn stop(&mut self) {
        let Some(mut process) = self.process.take() else { return };
        let pid = i32::try_from(process.id()).ok().and_then(Pid::from_raw);
        let asked = pid.map(|pid| kill_process(pid, Signal::TERM));
        assert!(matches!(asked, Some(Ok(()))), "the broker cannot be signalled");
        let end = Instant::now() + PATIENCE;
        while matches!(process.try_wait(), Ok(None)) {
            if Instant::now() > end {
                let _ = process.kill();
                fail(&format!("the broker does not stop\n{}", self.log()));
            }
            pause();
        }
    }

    /// Starts it again on the same directory and port.
    pub fn restart(&mut self) {
        self.kill();
        self.launch();
    }

    /// Whether its process runs, as far as it was not stopped or killed here.
    pub fn is_running(&mut self) -> bool {
        self.process.as_mut().is_some_and(|process| matches!(process.try_wait(), Ok(None)))
    }

    /// What the broker logged.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.directory().join("broker.log")).unwrap_or_default()
    }

    /// Resident memory in bytes.
    pub fn resident(&self) -> u64 {
        let pid = self.process.as_ref().map_or(0, Child::id);
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kib.unwrap_or_default().saturating_mul(1024)
    }

    fn launch(&mut self) {
        self.spawn();
        self.wait_until_it_answers();
    }

    /// Starts the process without waiting for anything.
    pub(crate) fn spawn(&mut self) {
        let log = File::options().create(true).append(true).open(self.directory().join("broker.log"));
        let log = log.unwrap_or_else(|e| fail(&format!("no log file: {e}")));
        let mut command = match self.product {
            Product::Kafka => self.reference(),
            Product::Barnabas => self.barnabas(),
        };
        let streams = log.try_clone().map(|errors| (log, errors));
        let (output, errors) = streams.unwrap_or_else(|e| fail(&format!("no log file: {e}")));
        command.stdin(Stdio::null()).stdout(output).stderr(errors);
        let process = command.spawn();
        self.process = Some(process.unwrap_or_else(|e| fail(&format!("{command:?} does not start: {e}"))));
    }

    fn barnabas(&self) -> Command {
        let binary = suite::binaries().join("barnabas");
        assert!(
            binary.exists(),
            "{} is missing: cargo build with the profile of the tests",
            binary.display()
        );
        let settings = self.directory().join("server.properties");
        if !self.format.is_empty() {
            self.format(Command::new(&binary).arg("format"), &settings);
        }
        let mut command = Command::new(binary);
        command.arg("server").arg(settings);
        command
    }

    /// Formats the storage unless it is.
    fn format(&self, tool: &mut Command, settings: &Path) {
        if self.data().join("meta.properties").exists() {
            return;
        }
        let told = tool.args(["-t", CLUSTER, "-c"]).arg(settings).args(&self.format).output();
        match told {
            Ok(output) if output.status.success() => {}
            other => fail(&format!("{tool:?} fails: {other:?}")),
        }
    }

    fn reference(&self) -> Command {
        let classpath = Command::new(suite::home().join("kafka")).arg("classpath").output();
        let classpath = classpath.unwrap_or_else(|e| fail(&format!("the reference cannot be had: {e}")));
        let classpath = String::from_utf8_lossy(&classpath.stdout).trim().to_owned();
        let settings = self.directory().join("server.properties");
        self.format(
            Command::new("java").args(["-cp", &classpath, "kafka.tools.StorageTool", "format"]),
            &settings,
        );
        let mut command = Command::new("java");
        command.args(["-Xms512m", "-Xmx512m", "-cp", &classpath, "kafka.Kafka"]).arg(settings);
        command
    }

    fn place_alone(&self, as_kafka: bool) -> String {
        let (port, controller) = (self.port, self.controller());
        let listeners = if as_kafka {
            format!(
                "process.roles=broker,controller\ncontroller.quorum.voters=1@{controller}\n\
                 listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://{controller}\n\
                 controller.listener.names=CONTROLLER\n"
            )
        } else {
            format!("listeners=PLAINTEXT://127.0.0.1:{port}\n")
        };
        format!("node.id=1\n{listeners}")
    }

    fn write_settings(&self, place: &str, settings: &[(&str, &str)], more: &[(&str, &str)]) {
        let mut text = format!(
            "{place}advertised.listeners=PLAINTEXT://{}\nlog.dirs={}\n",
            self.bootstrap(),
            self.data().display()
        );
        for (key, value) in settings.iter().chain(more) {
            text.push_str(&format!("{key}={value}\n"));
        }
        let written = std::fs::create_dir_all(self.data())
            .and_then(|()| std::fs::write(self.directory().join("server.properties"), text));
        written.unwrap_or_else(|e| fail(&format!("the settings cannot be written: {e}")));
    }

    pub(crate) fn wait_until_it_answers(&mut self) {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let end = Instant::now() + PATIENCE;
        while TcpStream::connect(address).is_err() {
            let ended = self.process.as_mut().and_then(|process| process.try_wait().ok().flatten());
            if ended.is_some() || Instant::now() > end {
                fail(&format!("the broker does not listen on {address} ({ended:?})\n{}", self.log()));
            }
            pause();
        }
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
        if std::thread::panicking() {
            let kept = self.directory.take().map(TempDir::keep);
            eprintln!("the broker's directory is kept: {}", kept.unwrap_or_default().display());
        }
    }
}

/// Two neighbouring ports that nobody listens on, below those that the system gives to clients.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = u16::try_from(std::process::id() % 4000).unwrap_or_default();
    loop {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = 20_000 + (start + step) % 4000 * 2;
        if [port, port + 1].iter().all(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok()) {
            return port;
        }
    }
}

/// The pace of looking again.
pub(crate) fn pause() {
    std::thread::sleep(Duration::from_millis(5));
}

/// A broker that cannot be had fails the test that wants it.
#[expect(clippy::panic, reason = "only tests call this")]
pub(crate) fn fail(why: &str) -> ! {
    panic!("{why}")
}
