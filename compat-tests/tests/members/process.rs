//! A member as a process: started, paused, killed, and what it says.

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rustix::process::{Pid, Signal, kill_process};

/// What all members together have seen: partitions and offsets.
pub type Seen = Arc<Mutex<HashSet<(i32, i64)>>>;

/// One member. It is killed when dropped.
pub struct Member {
    process: Child,
    said: Arc<Said>,
}

#[derive(Default)]
struct Said {
    share: AtomicUsize,
    given: AtomicUsize,
}

impl Member {
    pub fn start(mut command: Command, seen: &Seen) -> Member {
        // What a client grumbles about while its broker moves partitions is no finding.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let (said, seen) = (Arc::new(Said::default()), seen.clone());
        let (lines, heard) = (BufReader::new(process.stdout.take().unwrap()).lines(), said.clone());
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                match line.split(' ').collect::<Vec<_>>()[..] {
                    ["given"] => _ = heard.given.fetch_add(1, Ordering::Relaxed),
                    ["share", count] => heard.share.store(count.parse().unwrap(), Ordering::Relaxed),
                    ["seen", partition, offset] => {
                        let place = (partition.parse().unwrap(), offset.parse().unwrap());
                        seen.lock().unwrap().insert(place);
                    }
                    _ => println!("a member says: {line}"),
                }
            }
        });
        Member { process, said }
    }

    /// How many partitions it has.
    pub fn share(&self) -> usize {
        self.said.share.load(Ordering::Relaxed)
    }

    /// How often it was handed any.
    pub fn times_given(&self) -> usize {
        self.said.given.load(Ordering::Relaxed)
    }

    /// From here on it does nothing, and does not know it.
    pub fn pause(&self) {
        self.signal(Signal::STOP);
    }

    pub fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.process.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Says goodbye.
    pub fn leave(mut self) {
        drop(self.process.stdin.take());
        assert!(self.process.wait().unwrap().success(), "a member leaves in order");
    }

    /// `kill -9`.
    pub fn crash(self) {
        drop(self);
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        // One that has left is gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
