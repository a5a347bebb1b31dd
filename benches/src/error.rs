//! What can go wrong in a run, by whose fault it is.

use std::io;

/// An error of the harness; it ends one scenario, not the run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused something.
    #[error("{what}: {source}")]
    System {
        /// What was attempted.
        what: String,
        /// The system's answer.
        source: io::Error,
    },
    /// The machine or the command line lacks something a scenario needs.
    #[error("{0}")]
    Setup(String),
    /// The broker answered with a Kafka error code.
    #[error("{api} was answered with error code {code}")]
    Refused {
        /// The API's name.
        api: &'static str,
        /// Kafka's error code.
        code: i16,
    },
    /// The broker's bytes are not the answer they should be.
    #[error("unusable answer: {0}")]
    Answer(String),
    /// Nothing came for too long.
    #[error("no answer for {seconds} s while {what}")]
    Stalled {
        /// What was waited for.
        what: String,
        /// How long, in seconds.
        seconds: u64,
    },
}

/// A result of the harness.
pub type Result<T> = std::result::Result<T, Error>;

/// Says of a system error what was attempted.
pub trait Attempt<T> {
    /// Turns a system error into one that names what was attempted.
    fn attempt(self, what: impl Into<String>) -> Result<T>;
}

impl<T, E: Into<io::Error>> Attempt<T> for std::result::Result<T, E> {
    fn attempt(self, what: impl Into<String>) -> Result<T> {
        self.map_err(|source| Error::System { what: what.into(), source: source.into() })
    }
}
