//! What can be wrong with settings.

use super::properties::{Origin, ReadError};

/// One thing that keeps the broker from starting.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// A file or override could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A value its key cannot have.
    #[error("{origin}: {key}: {why}")]
    BadValue {
        /// Where it was written.
        origin: Origin,
        /// The key.
        key: String,
        /// Which value, and what was expected (Kafka's sentence).
        why: String,
    },
    /// A setting that would protect something, and does not yet.
    #[error(
        "{origin}: {key} is not supported yet, and the broker would be open where this setting closes it; \
         it does not start. Take the setting out if that is what you want"
    )]
    Protective {
        /// Where it was written.
        origin: Origin,
        /// The key.
        key: String,
    },
    /// A key that has no default is not set.
    #[error("{0} is not set, and has no default")]
    Missing(&'static str),
    /// Values that do not go together.
    #[error("{0}")]
    Conflict(String),
    /// The program asks for a key that the table lacks, or by another type: a defect.
    #[error("internal error: no setting {0} of that type")]
    NoSuchKey(&'static str),
}

/// Everything that is wrong, in the order of the keys.
#[derive(Debug)]
pub struct ConfigError(pub Vec<Problem>);

impl std::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, problem) in self.0.iter().enumerate() {
            let break_before = if at == 0 { "" } else { "\n" };
            write!(f, "{break_before}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}

impl From<Problem> for ConfigError {
    fn from(problem: Problem) -> ConfigError {
        ConfigError(vec![problem])
    }
}

impl From<ReadError> for ConfigError {
    fn from(error: ReadError) -> ConfigError {
        Problem::from(error).into()
    }
}
