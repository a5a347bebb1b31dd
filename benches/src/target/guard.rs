//! Sees to it that a server ends when this program is killed before it could end it itself.

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use crate::error::{Attempt, Result};

/// A shell that waits for a word from this program; if its pipe closes without one, it runs a command.
pub struct Guard {
    shell: Child,
}

impl Guard {
    /// Runs `command` when this program is gone, unless the guard is dropped before.
    pub fn new(command: &[OsString]) -> Result<Guard> {
        let mut shell = Command::new("sh");
        shell.args(["-c", "read -r released && exit; exec \"$@\"", "guard"]).args(command);
        // A process group of its own: Ctrl-C must not reach it.
        shell.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        shell.spawn().attempt("starting a guard").map(|shell| Guard { shell })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(mut pipe) = self.shell.stdin.take() {
            // If it is gone already, there is nobody to release.
            let _ = pipe.write_all(b"released\n");
        }
        let _ = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(path: &std::path::Path) -> Vec<OsString> {
        vec!["touch".into(), path.into()]
    }

    #[test]
    fn it_acts_when_its_pipe_breaks_and_not_when_it_is_released() {
        let path = std::env::temp_dir().join(format!("benches-guard-{}", std::process::id()));
        drop(Guard::new(&touch(&path)).unwrap());
        assert!(!path.exists());
        let mut broken = Guard::new(&touch(&path)).unwrap();
        drop(broken.shell.stdin.take());
        assert!(broken.shell.wait().unwrap().success());
        assert!(path.exists());
        std::fs::remove_file(&path).unwrap();
    }
}
