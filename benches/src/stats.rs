//! Medians and quartiles: what repeated measurements agree on.

/// The middle and the quarters of some values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Lower quartile.
    pub low: f64,
    /// Median.
    pub median: f64,
    /// Upper quartile.
    pub high: f64,
}

/// A ratio is settled when its quartiles lie so close to its median.
const SETTLED: f64 = 0.05;

impl Spread {
    /// Of values in any order; none of no values.
    pub fn of(values: &[f64]) -> Option<Spread> {
        let mut sorted = values.iter().copied().filter(|value| value.is_finite()).collect::<Vec<_>>();
        sorted.sort_by(f64::total_cmp);
        Some(Spread {
            low: quantile(&sorted, 1)?,
            median: quantile(&sorted, 2)?,
            high: quantile(&sorted, 3)?,
        })
    }

    /// Are both quartiles within 5% of the median?
    pub fn settled(&self) -> bool {
        let slack = self.median.abs() * SETTLED;
        self.median - self.low <= slack && self.high - self.median <= slack
    }
}

/// The value a number of quarters along, between two neighbours in proportion.
fn quantile(sorted: &[f64], quarters: usize) -> Option<f64> {
    let steps = sorted.len().checked_sub(1)? * quarters;
    let (index, rest) = (steps / 4, steps % 4);
    let low = *sorted.get(index)?;
    let high = sorted.get(index + 1).copied().unwrap_or(low);
    let part = [0.0, 0.25, 0.5, 0.75].get(rest).copied().unwrap_or(0.0);
    Some(low + (high - low) * part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_lie_between_neighbours() {
        let spread = Spread::of(&[4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!(spread, Spread { low: 1.75, median: 2.5, high: 3.25 });
        assert_eq!(Spread::of(&[]), None);
    }

    #[test]
    fn five_percent_is_settled_and_more_is_noise() {
        assert!(Spread { low: 0.96, median: 1.0, high: 1.04 }.settled());
        assert!(!Spread { low: 0.9, median: 1.0, high: 1.04 }.settled());
    }
}
