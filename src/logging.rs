//! The log: plain lines on standard error, filtered by `RUST_LOG` (default `info`).

use std::io::IsTerminal;
use std::sync::OnceLock;

use parking_lot::Mutex;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::prelude::*;
use tracing_subscriber::{EnvFilter, Registry, fmt, reload};

struct Root {
    filter: reload::Handle<EnvFilter, Registry>,
    level: Mutex<LevelFilter>,
}

/// openraft tells each vote and request; what an operator wants to know of them is told by `controller::raft`.
const QUIET: &str = "openraft=warn";

static ROOT: OnceLock<Root> = OnceLock::new();

/// Starts the log. A second call changes nothing.
pub fn start() {
    let wanted = std::env::var("RUST_LOG").unwrap_or_default();
    let filter = EnvFilter::new(format!("{},{QUIET},{wanted}", LevelFilter::INFO));
    let level = filter.max_level_hint().unwrap_or(LevelFilter::INFO);
    let (filter, handle) = reload::Layer::new(filter);
    let lines = fmt::layer().with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
    if tracing_subscriber::registry().with(filter).with(lines).try_init().is_ok() {
        let _first = ROOT.set(Root { filter: handle, level: Mutex::new(level) });
    }
}

/// A level as Kafka names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level(LevelFilter);

impl Level {
    /// The level of this name, in upper case; FATAL is the same as ERROR here.
    pub fn from_name(name: &str) -> Option<Level> {
        Some(Level(match name {
            "TRACE" => LevelFilter::TRACE,
            "DEBUG" => LevelFilter::DEBUG,
            "INFO" => LevelFilter::INFO,
            "WARN" => LevelFilter::WARN,
            "ERROR" | "FATAL" => LevelFilter::ERROR,
            _ => return None,
        }))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self.0.into_level() {
            Some(tracing::Level::TRACE) => "TRACE",
            Some(tracing::Level::DEBUG) => "DEBUG",
            Some(tracing::Level::INFO) => "INFO",
            Some(tracing::Level::WARN) => "WARN",
            Some(tracing::Level::ERROR) => "ERROR",
            None => "OFF",
        }
    }
}

/// The level that holds now. `INFO` if no log was started, as in tests.
pub fn root_level() -> Level {
    Level(ROOT.get().map_or(LevelFilter::INFO, |root| *root.level.lock()))
}

/// Sets the level of everything. Nothing happens if no log was started.
pub fn set_root_level(level: Level) {
    let Some(root) = ROOT.get() else { return };
    let filter = EnvFilter::new(format!("{},{QUIET}", level.0));
    if root.filter.reload(filter).is_ok() {
        *root.level.lock() = level.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_kafkas_names() {
        for name in ["TRACE", "DEBUG", "INFO", "WARN", "ERROR"] {
            assert_eq!(Level::from_name(name).unwrap().name(), name);
        }
        assert_eq!(Level::from_name("FATAL").unwrap().name(), "ERROR");
        assert_eq!(Level::from_name("loud"), None);
        assert_eq!(root_level().name(), "INFO");
    }
}
