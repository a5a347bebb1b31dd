//! SIGTERM, SIGINT and SIGHUP ask for an orderly stop, unless the process was started with them ignored (nohup).

use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing::info;

use crate::shutdown::Trigger;

/// Listens for the signals; the first one pulls `trigger`. Needs a runtime.
///
/// # Errors
/// The system gives no handler.
pub fn listen(trigger: Trigger) -> std::io::Result<()> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = ignored_mask(&status);
    let mut signals = Vec::new();
    for (kind, name) in [
        (SignalKind::terminate(), "SIGTERM"),
        (SignalKind::interrupt(), "SIGINT"),
        (SignalKind::hangup(), "SIGHUP"),
    ] {
        if !is_ignored(ignored, kind.as_raw_value()) {
            signals.push((signal(kind)?, name));
        }
    }
    tokio::spawn(async move {
        let name = first(&mut signals).await;
        info!("{name}: stopping");
        trigger.request();
        // A dropped trigger would ask for the stop, too: it is kept even if every signal is ignored.
        std::future::pending::<()>().await;
    });
    Ok(())
}

/// Waits for the first of the signals.
async fn first(signals: &mut [(Signal, &'static str)]) -> &'static str {
    std::future::poll_fn(|cx| {
        for (signal, name) in signals.iter_mut() {
            if signal.poll_recv(cx).is_ready() {
                return std::task::Poll::Ready(*name);
            }
        }
        std::task::Poll::Pending
    })
    .await
}

/// The mask of ignored signals in `/proc/self/status`.
fn ignored_mask(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

fn is_ignored(mask: u64, number: i32) -> bool {
    let bit = u32::try_from(number).ok().and_then(|number| number.checked_sub(1));
    bit.and_then(|bit| mask.checked_shr(bit)).is_some_and(|rest| rest & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_that_nohup_ignores_stay_ignored() {
        let mask = ignored_mask("Name:\tbarnabas\nSigIgn:\t0000000000001001\nSigCgt:\t0\n");
        assert!(is_ignored(mask, 1), "SIGHUP");
        assert!(!is_ignored(mask, 2));
        assert!(is_ignored(mask, 13));
        assert!(!is_ignored(mask, 15));
    }

    #[tokio::test]
    async fn a_signal_asks_for_the_stop() {
        let (trigger, mut shutdown) = crate::shutdown::channel();
        listen(trigger).unwrap();
        assert!(!shutdown.is_requested());
        let own = rustix::process::getpid();
        rustix::process::kill_process(own, rustix::process::Signal::TERM).unwrap();
        tokio::time::timeout(std::time::Duration::from_secs(10), shutdown.requested()).await.unwrap();
    }
}
