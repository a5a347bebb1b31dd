//! Tests that run by seeds.

/// Runs a test by seeds and says in the end which of them fail: `default` of them or `BARNABAS_SEEDS`, from 0 on; one, or
/// `BARNABAS_SEEDS`, from `BARNABAS_SEED` on. Gives their number.
pub fn each_seed(default: u64, run: impl Fn(u64)) -> u64 {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (first, count) = (number("BARNABAS_SEED"), number("BARNABAS_SEEDS"));
    let count = count.unwrap_or(if first.is_some() { 1 } else { default });
    let first = first.unwrap_or(0);
    let fails = |seed: &u64| {
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(*seed))).is_err();
        if failed {
            println!("seed {seed} fails");
        }
        failed
    };
    let failed: Vec<u64> = (first..first.saturating_add(count)).filter(fails).collect();
    assert!(failed.is_empty(), "BARNABAS_SEED=n shows it again: {failed:?}");
    count
}
