//! The command line: one file per subcommand. Without one, a node for development starts in `./data`.

mod format;
mod random_uuid;
mod serve;
mod server;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::config;

/// A Kafka broker. Without a command it starts one node for development, with its data in ./data
#[derive(Parser, Debug)]
#[command(name = "barnabas", version)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Start the broker of a server.properties file
    Server(server::Args),
    /// Prepare the log directories of a new node
    Format(format::Args),
    /// Print a new cluster id
    RandomUuid,
    /// Read all files of a node that is stopped, and say what is damaged
    Verify(verify::Args),
}

/// Where a start without a file keeps its data.
const DEVELOPMENT_DATA: &str = "./data";

/// Reads the command line, does what it says, and gives the exit code.
pub fn run() -> ExitCode {
    match Cli::parse().command {
        None => serve::run(Ok(config::development(DEVELOPMENT_DATA))),
        Some(Command::Server(args)) => serve::run(args.properties()),
        Some(Command::Format(args)) => format::run(&args),
        Some(Command::RandomUuid) => random_uuid::run(),
        Some(Command::Verify(args)) => verify::run(&args),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_of_kafkas_scripts_is_understood() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
        let cli =
            Cli::try_parse_from(["barnabas", "server", "x", "--override", "node.id=5", "--override", "a=b"]);
        assert!(matches!(cli.unwrap().command, Some(Command::Server(_))));
        let cli = Cli::try_parse_from(["barnabas", "format", "-t", "id", "-c", "x", "--standalone", "-g"]);
        assert!(matches!(cli.unwrap().command, Some(Command::Format(_))));
        assert!(Cli::try_parse_from(["barnabas"]).unwrap().command.is_none());
        assert!(Cli::try_parse_from(["barnabas", "server"]).is_err());
    }
}
