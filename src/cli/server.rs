//! `barnabas server FILE --override key=value`.

use std::path::PathBuf;

use crate::config::{ConfigError, Properties};

/// See the module.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// A file of settings, as Kafka's server.properties
    file: PathBuf,
    /// Set one key over what the file says
    #[arg(long = "override", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
}

impl Args {
    /// The file with the overrides on top.
    pub fn properties(&self) -> Result<Properties, ConfigError> {
        read(&self.file, &self.overrides)
    }
}

/// Reads a file and lays overrides over it.
pub fn read(file: &std::path::Path, overrides: &[String]) -> Result<Properties, ConfigError> {
    let mut properties = Properties::read(file)?;
    for text in overrides {
        properties.add_override(text)?;
    }
    Ok(properties)
}
