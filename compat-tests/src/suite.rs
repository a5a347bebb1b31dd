//! Which suites run, and what they need of the machine.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The environment variable with the names of the suites to leave out, separated by commas.
pub const SKIP: &str = "COMPAT_SKIP";

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
            Suite::Crash => "crash",
            Suite::BothWays => "both-ways",
            Suite::Cluster => "cluster",
        }
    }

    /// Whether the suite is to run. Fails, naming the suite, when the machine lacks what it needs.
    pub fn wanted(self) -> bool {
        let skipped = std::env::var(SKIP).unwrap_or_default();
        if skipped.split(',').any(|name| name == self.name()) {
            println!("suite {}: skipped as asked", self.name());
            return false;
        }
        let needed: &[&str] = match self {
            Suite::Java | Suite::Tools | Suite::BothWays => &["javac", "mvn"],
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
