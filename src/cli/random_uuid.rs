//! `barnabas random-uuid`: an id for a new cluster.

use std::process::ExitCode;

use crate::rng::Rng;

/// Prints it.
pub fn run() -> ExitCode {
    match Rng::from_system() {
        Ok(rng) => {
            println!("{}", rng.uuid());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("barnabas: no random numbers: {error}");
            ExitCode::FAILURE
        }
    }
}
