//! From settings to a broker that serves until it is asked to stop.

use std::process::ExitCode;

use tracing::{error, info, warn};

use crate::broker::{Broker, Doors};
use crate::clock::Clock;
use crate::config::{Config, ConfigError, Properties};
use crate::disk::RealDisk;
use crate::net::Network;
use crate::rng::Rng;
use crate::shutdown;
use crate::spawn::Spawner;
use crate::{limits, logging, signals};

/// Starts the broker and waits for its end.
pub fn run(properties: Result<Properties, ConfigError>) -> ExitCode {
    logging::start();
    match properties.and_then(|properties| Config::load(&properties)) {
        Ok((config, notes)) => {
            for warning in &notes.warnings {
                warn!("{warning}");
            }
            for line in &notes.infos {
                info!("{line}");
            }
            if let Some(warning) =
                limits::shortage(limits::raise_open_files(), config.network.max_connections)
            {
                warn!("{warning}");
            }
            serve(config)
        }
        Err(ConfigError(problems)) => {
            for problem in problems {
                error!("{problem}");
            }
            ExitCode::FAILURE
        }
    }
}

fn serve(config: Config) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            error!("no threads: {error}");
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(until_stopped(config)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            error!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn until_stopped(config: Config) -> Result<(), Box<dyn std::error::Error>> {
    let doors = Doors {
        disk: RealDisk::shared(),
        network: Network::Tcp,
        clock: Clock::system(),
        rng: Rng::from_system()?,
        spawner: Spawner::threads(),
    };
    let (trigger, mut shutdown) = shutdown::channel();
    signals::listen(trigger)?;
    let story = Story::of(&config);
    let broker = tokio::select! {
        biased;
        () = shutdown.requested() => return Ok(()),
        broker = Broker::join(config, &doors) => broker?,
    };
    for line in story.lines(broker.listeners()) {
        println!("{line}");
    }
    broker.run(shutdown).await?;
    Ok(())
}

/// What a start tells the person in front of it.
struct Story {
    dirs: String,
    advertised: Vec<(String, String, u16)>,
}

impl Story {
    fn of(config: &Config) -> Story {
        let dirs: Vec<String> = config.log_dirs.iter().map(|dir| dir.display().to_string()).collect();
        let advertised = config.network.advertised.iter();
        let advertised = advertised.map(|l| (l.name.clone(), l.host.clone(), l.port)).collect();
        Story { dirs: dirs.join(", "), advertised }
    }

    /// Three lines; `bound` has the ports that listeners got.
    fn lines(&self, bound: &[(String, u16)]) -> [String; 3] {
        let address = |(name, host, port): &(String, String, u16)| {
            let port = match *port {
                0 => bound.iter().find(|(known, _)| known == name).map_or(0, |(_, port)| *port),
                port => port,
            };
            if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
        };
        let addresses: Vec<String> = self.advertised.iter().map(address).collect();
        let first = addresses.first().map_or("", String::as_str);
        [
            format!("Data is in {}", self.dirs),
            format!("Listening on {}", addresses.join(", ")),
            format!("Try: kafka-topics.sh --bootstrap-server {first} --create --topic hello"),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::development;

    #[test]
    fn the_start_says_where_data_is_where_it_listens_and_how_to_try_it() {
        let (config, _) = Config::load(&development("/data")).unwrap();
        assert_eq!(
            Story::of(&config).lines(&[]),
            [
                "Data is in /data",
                "Listening on localhost:9092",
                "Try: kafka-topics.sh --bootstrap-server localhost:9092 --create --topic hello"
            ]
        );
    }

    #[test]
    fn a_port_that_the_system_chose_is_told() {
        let mut properties = development("/data");
        properties.add_override("listeners=PLAINTEXT://[::1]:0").unwrap();
        let (config, _) = Config::load(&properties).unwrap();
        let lines = Story::of(&config).lines(&[("PLAINTEXT".to_owned(), 5)]);
        assert_eq!(lines[1], "Listening on [::1]:5");
    }
}
