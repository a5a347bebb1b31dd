//! Which suites run, and what they need of the machine.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// The environment variable with the names of the suites to leave out, separated by commas.
pub const SKIP: &str = "COMPAT_SKIP";

/// How long all tests of one program may take together: what does not end says so, instead of holding up whoever waits.
const LIMIT: Duration = Duration::from_mins(15);

/// A group of tests that needs the same tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suite {
    /// Programs on several releases of Kafka's Java client.
    Java,
    /// The official command-line tools.
    Tools,
    /// Applications on librdkafka.
    Librdkafka,
    /// Programs on franz-go.
    FranzGo,
    /// Members of groups that are processes, on the Java client and on librdkafka.
    Members,
    /// `kill -9` under load.
    Crash,
    /// One data directory, now Kafka's, now ours.
    BothWays,
    /// Three nodes, of which some fall.
    Cluster,
}

impl Suite {
    /// The name by which a person leaves it out.
    pub fn name(self) -> &'static str {
        match self {
            Suite::Java => "java",
            Suite::Tools => "tools",
            Suite::Librdkafka => "librdkafka",
            Suite::FranzGo => "franz-go",
            Suite::Members => "members",
            Suite::Crash => "crash",
            Suite::BothWays => "both-ways",
            Suite::Cluster => "cluster",
        }
    }

    /// Whether the suite is to run. Fails, naming the suite, when the machine lacks what it needs.
    pub fn wanted(self) -> bool {
        limit_time();
        let skipped = std::env::var(SKIP).unwrap_or_default();
        if skipped.split(',').any(|name| name == self.name()) {
            println!("suite {}: skipped as asked", self.name());
            return false;
        }
        let needed: &[&str] = match self {
            Suite::Java | Suite::Tools | Suite::Members | Suite::BothWays => &["javac", "mvn"],
            Suite::FranzGo => &["go"],
            Suite::Librdkafka | Suite::Crash | Suite::Cluster => &[],
        };
        for tool in needed {
            let found = Command::new(tool).arg("-version").output().is_ok();
            assert!(found, "suite {0}: {tool} is absent (install it, or ./test --skip {0})", self.name());
        }
        true
    }
}

/// Ends this program and its brokers when its time is up. `CLUSTER_SECONDS` comes on top, once for each test that obeys it.
fn limit_time() {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        let asked = std::env::var("CLUSTER_SECONDS").ok().and_then(|text| text.parse().ok());
        let limit = LIMIT + Duration::from_secs(asked.unwrap_or(0)) * 4;
        std::thread::spawn(move || {
            std::thread::sleep(limit);
            report(&format!("the tests do not end within {} s: given up\n", limit.as_secs()));
            let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
            for thread in threads {
                let children = std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
                let pids = children.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?));
                for child in pids {
                    let _ = kill_process(child, Signal::KILL);
                }
            }
            std::process::abort();
        });
    });
}

/// The folder of this crate, with its scripts.
pub fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder where cargo put the binaries of the profile that is being tested.
pub fn binaries() -> PathBuf {
    let test = std::env::current_exe().unwrap_or_default();
    test.ancestors().nth(2).map(Path::to_path_buf).unwrap_or_default()
}

/// Shows text in the output of the test run although the test passes.
pub fn report(text: &str) {
    // Only the printing macros are captured by the test harness.
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}
