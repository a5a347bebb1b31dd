//! `barnabas format`: makes empty log directories those of a new node, as kafka-storage does.

use std::path::PathBuf;
use std::process::ExitCode;

use super::server;
use crate::broker::write_meta;
use crate::clock::Clock;
use crate::config::Config;
use crate::controller;
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
    #[arg(short = 's', long)]
    standalone: bool,
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
            controller::format::format(disk.as_ref(), dir, Clock::system().now())?;
        }
        write_meta(&disk, dir, &args.cluster_id, config.node_id, rng.uuid())?;
        lines.push(format!("{} formatted", dir.display()));
    }
    Ok(lines)
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
}
