//! `barnabas format`: makes empty log directories those of a new node, as kafka-storage does.

use std::path::PathBuf;
use std::process::ExitCode;

use super::server;
use crate::broker::write_meta;
use crate::clock::Clock;
use crate::config::Config;
use crate::controller;
use crate::controller::voters::{Endpoint, Voter, Voters};
use crate::disk::RealDisk;
use crate::ids::Uuid;
use crate::rng::Rng;
use crate::storage::log_dir;

/// See the module.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The cluster's id; `barnabas random-uuid` makes one
    #[arg(short = 't', long)]
    cluster_id: String,
    /// The node's server.properties
    #[arg(short = 'c', long)]
    config: PathBuf,
    /// The node is the only controller of its cluster
    #[arg(short = 's', long, group = "voters")]
    standalone: bool,
    /// The node is one of several controllers: all of them, as ID@HOST:PORT:DIRECTORY-ID, between commas
    #[arg(short = 'I', long, group = "voters", value_name = "LIST")]
    initial_controllers: Option<String>,
    /// The controllers are told later
    #[arg(short = 'N', long, group = "voters")]
    no_initial_controllers: bool,
    /// Leave directories alone that are formatted already
    #[arg(short = 'g', long)]
    ignore_formatted: bool,
    /// Set one key over what the file says
    #[arg(long = "override", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
}

/// Formats, and says what it did.
pub fn run(args: &Args) -> ExitCode {
    match format(args) {
        Ok(lines) => {
            for line in lines {
                println!("{line}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("barnabas: {error}");
            ExitCode::FAILURE
        }
    }
}

fn format(args: &Args) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    if Uuid::parse(&args.cluster_id).is_none_or(Uuid::is_zero) {
        let id = &args.cluster_id;
        return Err(
            format!("--cluster-id {id}: expected 22 characters of base64, as random-uuid prints").into()
        );
    }
    let (config, _) = Config::load(&server::read(&args.config, &args.overrides)?)?;
    let voters = match &args.initial_controllers {
        Some(list) => Some(initial_controllers(list, &config)?),
        None => None,
    };
    let disk = RealDisk::shared();
    let rng = Rng::from_system()?;
    let mut fresh = Vec::new();
    let mut locks = Vec::new();
    let mut lines = Vec::new();
    let metadata_dir = &config.metadata_log_dir;
    // The metadata directory comes last: only with its meta.properties is the node formatted.
    let mut dirs: Vec<&PathBuf> = config.log_dirs.iter().filter(|dir| *dir != metadata_dir).collect();
    dirs.push(metadata_dir);
    for dir in dirs {
        disk.create_dir(dir)?;
        let Some(lock) = log_dir::lock(disk.as_ref(), dir)? else {
            return Err(format!("{} is in use by a running broker", dir.display()).into());
        };
        locks.push(lock);
        if log_dir::read_meta(disk.as_ref(), dir)?.is_none() {
            fresh.push(dir);
        } else if args.ignore_formatted {
            lines.push(format!("{} is formatted already", dir.display()));
        } else {
            let dir = dir.display();
            return Err(format!(
                "{dir} is formatted already; --ignore-formatted leaves such directories alone"
            )
            .into());
        }
    }
    for dir in fresh {
        if dir == metadata_dir {
            controller::format::format(disk.as_ref(), dir, voters.as_ref(), Clock::system().now())?;
        }
        let voter = voters.as_ref().and_then(|voters| voters.nodes.get(&config.node_id));
        let directory = voter.filter(|_| dir == metadata_dir).map(|voter| voter.directory);
        write_meta(&disk, dir, &args.cluster_id, config.node_id, directory.unwrap_or_else(|| rng.uuid()))?;
        lines.push(format!("{} formatted", dir.display()));
    }
    Ok(lines)
}

/// Reads `--initial-controllers`.
fn initial_controllers(list: &str, config: &Config) -> Result<Voters, String> {
    let name = config.network.controller_listener_names.first().cloned().unwrap_or_default();
    let mut voters = Voters::default();
    for text in list.split(',') {
        let (id, voter) = initial_controller(text.trim(), &name).ok_or_else(|| {
            format!("--initial-controllers: {text:?} is not ID@HOST:PORT:DIRECTORY-ID, as 1@localhost:9093:3Db5QLSqSZieL3rJBUUegA")
        })?;
        let twin = voters.nodes.values().any(|other| other.directory == voter.directory);
        if twin || voters.nodes.insert(id, voter).is_some() {
            return Err(format!("--initial-controllers: {text:?} repeats an id"));
        }
    }
    if !voters.nodes.contains_key(&config.node_id) {
        return Err(format!("--initial-controllers does not name this node (node.id={})", config.node_id));
    }
    Ok(voters)
}

fn initial_controller(text: &str, name: &str) -> Option<(i32, Voter)> {
    let (id, rest) = text.split_once('@')?;
    let (address, directory) = rest.rsplit_once(':')?;
    let (host, port) = address.rsplit_once(':')?;
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let endpoint = Endpoint { name: name.to_owned(), host, port: port.parse().ok()? };
    let directory = Uuid::parse(directory).filter(|id| !id.is_zero())?;
    let id = id.parse().ok().filter(|id: &i32| *id >= 0)?;
    Some((id, Voter { directory, endpoints: vec![endpoint] }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_once() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("server.properties");
        let text = format!("node.id=3\nlog.dirs={0}/a,{0}/b\n", home.path().display());
        std::fs::write(&file, text).unwrap();
        let mut args = Args {
            cluster_id: "AAAAAAAAAAAAAAAAAAAABQ".to_owned(),
            config: file,
            standalone: true,
            initial_controllers: None,
            no_initial_controllers: false,
            ignore_formatted: false,
            overrides: Vec::new(),
        };
        assert_eq!(format(&args).unwrap().len(), 2);
        let meta = std::fs::read_to_string(home.path().join("b/meta.properties")).unwrap();
        assert!(meta.contains("cluster.id=AAAAAAAAAAAAAAAAAAAABQ") && meta.contains("node.id=3"));
        assert!(home.path().join("a/__cluster_metadata-0").is_dir());
        assert!(format(&args).unwrap_err().to_string().contains("is formatted already"));
        args.ignore_formatted = true;
        assert!(format(&args).is_ok());
        args.cluster_id = "short".to_owned();
        assert!(format(&args).is_err());
    }

    #[test]
    fn a_controller_gets_the_directory_that_the_others_know() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("server.properties");
        let text = format!(
            "node.id=2\nprocess.roles=controller\nlisteners=CONTROLLER://:9093\ncontroller.listener.names=CONTROLLER\n\
             controller.quorum.bootstrap.servers=localhost:9093\nlog.dirs={0}/a\n",
            home.path().display()
        );
        std::fs::write(&file, text).unwrap();
        let list = "1@h1:9093:AAAAAAAAAAAAAAAAAAAACQ,2@[::1]:9094:AAAAAAAAAAAAAAAAAAAACg";
        let mut args = Args {
            cluster_id: "AAAAAAAAAAAAAAAAAAAABQ".to_owned(),
            config: file,
            standalone: false,
            initial_controllers: Some("1@h1:9093".to_owned()),
            no_initial_controllers: false,
            ignore_formatted: false,
            overrides: Vec::new(),
        };
        assert!(format(&args).unwrap_err().to_string().contains("ID@HOST:PORT:DIRECTORY-ID"));
        args.initial_controllers = Some(list.replace("2@", "3@"));
        assert!(format(&args).unwrap_err().to_string().contains("does not name this node"));
        args.initial_controllers = Some(list.to_owned());
        format(&args).unwrap();
        let meta = std::fs::read_to_string(home.path().join("a/meta.properties")).unwrap();
        assert!(meta.contains("directory.id=AAAAAAAAAAAAAAAAAAAACg"), "{meta}");
    }
}
