//! The CPU time of a process, user and system, with all threads it has and had.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use crate::error::{Attempt, Result};

/// What a process has used up to some moment.
pub struct Cpu {
    /// By /proc/PID/stat: complete, but in steps of a clock tick (10 ms).
    whole: Duration,
    /// By /proc/PID/task/TID/sched: exact, but only of threads that live, and only where the kernel tells.
    threads: BTreeMap<u32, Duration>,
}

/// The exact sum is trusted only this near to the complete one: two ticks each for user and system time.
const TICKS_APART: Duration = Duration::from_millis(40);

impl Cpu {
    /// Of a process, now.
    pub fn of(pid: u32) -> Result<Cpu> {
        let path = format!("/proc/{pid}/stat");
        let stat = fs::read_to_string(&path).attempt(&path)?;
        // The name in parentheses may hold anything; utime and stime are the 12th and 13th field after it.
        let fields = stat.rsplit_once(')').map_or("", |(_, after)| after);
        let ticks = fields.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok());
        let ms_per_tick = 1000 / rustix::param::clock_ticks_per_second().max(1);
        let whole = Duration::from_millis(ticks.sum::<u64>().saturating_mul(ms_per_tick));
        Ok(Cpu { whole, threads: threads(pid) })
    }

    /// All that it has used.
    pub fn total(&self) -> Duration {
        self.whole
    }

    /// What was used since an earlier moment.
    pub fn since(&self, earlier: &Cpu) -> Duration {
        let whole = self.whole.saturating_sub(earlier.whole);
        let survived = earlier.threads.keys().all(|thread| self.threads.contains_key(thread));
        if !survived || earlier.threads.is_empty() {
            return whole;
        }
        let used = self.threads.iter().map(|(thread, now)| {
            now.saturating_sub(earlier.threads.get(thread).copied().unwrap_or_default())
        });
        let exact = used.sum::<Duration>();
        if exact.abs_diff(whole) <= TICKS_APART { exact } else { whole }
    }
}

/// The run time of each living thread, as far as the kernel shows it.
fn threads(pid: u32) -> BTreeMap<u32, Duration> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let of = |entry: fs::DirEntry| {
        let thread = entry.file_name().to_str()?.parse().ok()?;
        let text = fs::read_to_string(entry.path().join("sched")).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("se.sum_exec_runtime"))?;
        let ms = line.rsplit(':').next()?.trim().parse::<f64>().ok()?;
        Some((thread, Duration::try_from_secs_f64(ms / 1000.0).ok()?))
    };
    entries.filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpu(whole_ms: u64, threads: &[(u32, u64)]) -> Cpu {
        let threads = threads.iter().map(|(thread, us)| (*thread, Duration::from_micros(*us))).collect();
        Cpu { whole: Duration::from_millis(whole_ms), threads }
    }

    #[test]
    fn a_busy_process_is_charged_for_its_work() {
        let pid = std::process::id();
        let before = Cpu::of(pid).unwrap();
        let patience = std::time::Instant::now() + Duration::from_secs(20);
        while Cpu::of(pid).unwrap().since(&before) < Duration::from_millis(30) {
            assert!(std::time::Instant::now() < patience);
        }
    }

    #[test]
    fn threads_are_exact_as_long_as_none_is_lost() {
        let before = cpu(100, &[(1, 50_000), (2, 50_000)]);
        assert_eq!(
            cpu(110, &[(1, 51_500), (2, 50_000), (3, 700)]).since(&before),
            Duration::from_micros(2200)
        );
        assert_eq!(cpu(110, &[(1, 51_500)]).since(&before), Duration::from_millis(10));
        assert_eq!(cpu(400, &[(1, 51_500), (2, 50_000)]).since(&before), Duration::from_millis(300));
    }
}
