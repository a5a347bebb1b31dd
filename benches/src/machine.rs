//! What the machine says: a process's memory, its own description, and whether its disk is quiet.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::error::{Attempt, Error, Result};

/// Resident memory of a process, in bytes (VmRSS).
pub fn resident(pid: u32) -> Result<u64> {
    let path = format!("/proc/{pid}/status");
    let status = fs::read_to_string(&path).attempt(&path)?;
    kilobytes(&status, "VmRSS:").ok_or_else(|| Error::Setup(format!("{path} has no VmRSS")))
}

fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kb| kb.saturating_mul(1024))
}

const QUIET_BYTES: u64 = 4 << 20;
const QUIET_PATIENCE: Duration = Duration::from_secs(120);

/// Writes dirty pages out and waits until none are left, so that nobody pays for another's.
pub fn drain() -> Result<()> {
    let start = Instant::now();
    loop {
        rustix::fs::sync();
        let info = fs::read_to_string("/proc/meminfo").attempt("/proc/meminfo")?;
        let waiting = kilobytes(&info, "Dirty:").unwrap_or(0) + kilobytes(&info, "Writeback:").unwrap_or(0);
        if waiting <= QUIET_BYTES {
            return Ok(());
        }
        if start.elapsed() > QUIET_PATIENCE {
            let seconds = QUIET_PATIENCE.as_secs();
            return Err(Error::Stalled {
                what: format!("{waiting} dirty bytes waited for the disk"),
                seconds,
            });
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// What a measurement may write into memory that was free before.
const FRESH_BYTES: u64 = 2 << 30;

/// Lets the next user of free memory find pages that the host has given already. In a virtual machine the first touch
/// of a page may cost more than filling it; whoever came first in a round would pay for those after it.
pub fn touch_free_memory() -> Result<()> {
    let info = fs::read_to_string("/proc/meminfo").attempt("/proc/meminfo")?;
    let bytes = FRESH_BYTES.min(kilobytes(&info, "MemAvailable:").unwrap_or(0) / 4);
    let mut memory = Vec::<u8>::new();
    if memory.try_reserve_exact(usize::try_from(bytes).unwrap_or(0)).is_ok() {
        memory.resize(memory.capacity(), 1);
    }
    std::hint::black_box(memory.as_slice());
    Ok(())
}

/// Takes files out of memory: those in a directory, and in its directories with a prefix. They must be clean.
pub fn evict(dir: &Path, prefix: &str) -> Result<()> {
    for entry in fs::read_dir(dir).attempt(dir.display().to_string())?.flatten() {
        let path = entry.path();
        if path.is_dir() {
            if !prefix.is_empty() && entry.file_name().to_string_lossy().starts_with(prefix) {
                evict(&path, "")?;
            }
            continue;
        }
        let file = fs::File::open(&path).attempt(path.display().to_string())?;
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).attempt("fadvise")?;
    }
    Ok(())
}

/// One line that tells this machine from others.
pub fn description() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpuinfo = read("/proc/cpuinfo");
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("unknown CPU");
    let cores = std::thread::available_parallelism().map_or(0, |cores| cores.get());
    let memory = kilobytes(&read("/proc/meminfo"), "MemTotal:").unwrap_or(0) >> 20;
    let kernel = read("/proc/sys/kernel/osrelease");
    let model = model.trim_start_matches([' ', '\t', ':']);
    format!("{cores} × {model}, {memory} MB memory, Linux {}", kernel.trim())
}

/// The load of the last minute and of others, as a warning that somebody else is at work.
pub fn load_average() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

/// Today, as ISO date with the time of day in UTC.
pub fn now_utc() -> String {
    let seconds = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
    let (day, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(day);
    format!("{year}-{month:02}-{day:02} {:02}:{:02} UTC", second / 3600, second / 60 % 60)
}

/// Days since 1970 to year, month and day of the Gregorian calendar, counted in eras of 400 years from a March.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(20_513), (2026, 3, 1));
    }
}
