//! Limits of the process: open files.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit of open files to the hard one. Gives the limit that holds; `None` means there is none.
pub fn raise_open_files() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
        if let Err(error) = setrlimit(Resource::Nofile, raised) {
            tracing::warn!(%error, "cannot raise the limit of open files");
            return limit.current;
        }
    }
    limit.maximum
}

/// What the operator must know if `limit` open files cannot hold what is configured: connections take one each,
/// segments three (the records and two indexes).
pub fn shortage(limit: Option<u64>, max_connections: u32) -> Option<String> {
    const FEW: u64 = 4096;
    let limit = limit?;
    let wanted = match max_connections {
        // The default: as many as there may be.
        0x7fff_ffff.. => FEW,
        some => u64::from(some).saturating_add(FEW),
    };
    (limit < wanted).then(|| {
        format!(
            "at most {limit} files may be open, {wanted} would be needed for the configured connections and the logs: \
             raise the hard limit (ulimit -Hn), or lower max.connections"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_becomes_the_hard_one() {
        let now = raise_open_files();
        assert_eq!(getrlimit(Resource::Nofile).current, now);
    }

    #[test]
    fn a_low_limit_is_told() {
        assert_eq!(shortage(None, 5), None);
        assert_eq!(shortage(Some(100_000), i32::MAX as u32), None);
        assert!(shortage(Some(1024), i32::MAX as u32).unwrap().contains("at most 1024 files"));
        assert!(shortage(Some(10_000), 10_000).unwrap().contains("14096"));
    }
}
