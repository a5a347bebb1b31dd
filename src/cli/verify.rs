//! `barnabas verify PATH`: reads the files of a node that is stopped, and says what is damaged.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::server;
use crate::clock::Clock;
use crate::config::Config;
use crate::disk::{Disk, RealDisk};
use crate::storage::checkpoint::{CLEANER, HIGH_WATERMARK, LOG_START, RECOVERY_POINT, read_offsets};
use crate::storage::log_dir::{self, DirKind, DirName};
use crate::storage::{StorageError, Verified, verify};

/// See the module.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// A log directory, or a server.properties that names some; Kafka's own are fine
    path: PathBuf,
}

/// Verifies, and says what it found.
pub fn run(args: &Args) -> ExitCode {
    let clock = Clock::system();
    let began_ms = clock.now().mono_ms;
    match verify_all(&args.path) {
        Ok((sum, partitions)) => {
            let took_ms = clock.now().mono_ms.saturating_sub(began_ms);
            println!(
                "{partitions} partitions, {} segments, {} batches, {} records, {} bytes read in {took_ms} ms",
                sum.segments, sum.batches, sum.records, sum.bytes
            );
            if sum.damage.is_empty() {
                println!("no damage found");
                return ExitCode::SUCCESS;
            }
            println!(
                "{} places are damaged. While the broker is stopped: remove a damaged index or snapshot, and it is made anew; \
                 remove a damaged partition, and it is copied from another replica",
                sum.damage.len()
            );
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("barnabas: {error}");
            ExitCode::FAILURE
        }
    }
}

fn verify_all(path: &Path) -> Result<(Verified, usize), Box<dyn std::error::Error>> {
    let dirs = match path.is_dir() {
        true => vec![path.to_path_buf()],
        false => {
            let config = Config::load(&server::read(path, &[])?)?.0;
            let mut dirs = config.log_dirs;
            if !dirs.contains(&config.metadata_log_dir) {
                dirs.push(config.metadata_log_dir);
            }
            dirs
        }
    };
    let disk = RealDisk::shared();
    let (mut sum, mut partitions) = (Verified::default(), 0);
    for dir in dirs {
        if log_dir::read_meta(disk.as_ref(), &dir)?.is_none() {
            let dir = dir.display();
            return Err(format!("{dir} is no log directory: it has no meta.properties").into());
        }
        let Some(_lock) = log_dir::lock(disk.as_ref(), &dir)? else {
            return Err(format!("{} is in use by a running broker: stop it first", dir.display()).into());
        };
        verify_checkpoints(disk.as_ref(), &dir, &mut sum)?;
        let mut names = disk.list(&dir)?;
        names.retain(|entry| entry.meta.is_dir);
        for entry in names {
            let Some(name) =
                DirName::parse(&entry.name).filter(|name| !matches!(name.kind, DirKind::Delete(_)))
            else {
                continue;
            };
            tell(&verify(disk.as_ref(), &dir.join(name.to_string()))?, &mut sum);
            partitions += 1;
        }
    }
    Ok((sum, partitions))
}

fn verify_checkpoints(disk: &dyn Disk, dir: &Path, sum: &mut Verified) -> Result<(), StorageError> {
    let mut found = Verified::default();
    for name in [RECOVERY_POINT, HIGH_WATERMARK, LOG_START, CLEANER] {
        match read_offsets(disk, &dir.join(name)) {
            Ok(_) => {}
            Err(StorageError::Corrupt { path, what }) => found.damaged(&path, what),
            Err(error) => return Err(error),
        }
    }
    tell(&found, sum);
    Ok(())
}

/// Damage is shown as it is found: a large directory takes a while.
fn tell(found: &Verified, sum: &mut Verified) {
    for damage in &found.damage {
        println!("{}: {}", damage.path.display(), damage.what);
    }
    sum.add(found);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_log_directory_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let error = verify_all(home.path()).unwrap_err().to_string();
        assert!(error.ends_with("is no log directory: it has no meta.properties"), "{error}");
    }
}
