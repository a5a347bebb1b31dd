//! The table: one row per scenario and figure, Kafka, Barnabas and the limit beside each other.

use std::fmt::Write as _;
use std::path::Path;

use crate::error::{Attempt, Result};
use crate::machine;
use crate::stats::Spread;

/// One figure of one scenario.
pub struct Row {
    scenario: String,
    figure: String,
    unit: String,
    kafka: Option<f64>,
    barnabas: Option<f64>,
    limit: Option<f64>,
    rounds: usize,
    /// Barnabas by Kafka, within rounds.
    pub to_kafka: Option<Spread>,
    /// Barnabas by the limit, within rounds.
    pub to_limit: Option<Spread>,
    /// What the reader should know.
    pub note: String,
}

impl Row {
    /// Medians of each side, and of the ratios within each round.
    pub fn of(
        scenario: &str,
        figure: &str,
        unit: &str,
        kafka: &[Option<f64>],
        barnabas: &[Option<f64>],
        limit: &[Option<f64>],
    ) -> Row {
        let median = |side: &[Option<f64>]| {
            Spread::of(&side.iter().copied().flatten().collect::<Vec<_>>()).map(|spread| spread.median)
        };
        let ratio = |other: &[Option<f64>]| {
            let pairs = barnabas.iter().zip(other);
            Spread::of(&pairs.filter_map(|(own, other)| Some((*own)? / (*other)?)).collect::<Vec<_>>())
        };
        Row {
            scenario: scenario.to_owned(),
            figure: figure.to_owned(),
            unit: unit.to_owned(),
            kafka: median(kafka),
            barnabas: median(barnabas),
            limit: median(limit),
            rounds: kafka.len().max(barnabas.len()).max(limit.len()),
            to_kafka: ratio(kafka),
            to_limit: ratio(limit),
            note: String::new(),
        }
    }

    /// For figures of which a loop says nothing.
    pub fn without_limit(mut self) -> Row {
        (self.limit, self.to_limit) = (None, None);
        self
    }

    /// A scenario that could not be measured.
    pub fn failed(scenario: &str, why: &str) -> Row {
        let mut row = Row::of(scenario, "failed", "", &[], &[], &[]);
        row.note = why.replace(['|', '\n'], " ");
        row
    }

    fn cells(&self) -> [String; 8] {
        [
            self.scenario.clone(),
            if self.unit.is_empty() {
                self.figure.clone()
            } else {
                format!("{}, {}", self.figure, self.unit)
            },
            number(self.kafka),
            number(self.barnabas),
            ratio(self.to_kafka),
            number(self.limit),
            ratio(self.to_limit),
            [format!("{} rounds", self.rounds), self.note.clone()].join(if self.note.is_empty() {
                ""
            } else {
                "; "
            }),
        ]
    }
}

const HEAD: [&str; 8] = ["scenario", "figure", "Kafka", "Barnabas", "× Kafka", "limit", "× limit", "remarks"];

fn number(value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(value) if value.abs() >= 100.0 => format!("{value:.0}"),
        Some(value) if value.abs() >= 10.0 => format!("{value:.1}"),
        Some(value) if value.abs() >= 1.0 => format!("{value:.2}"),
        Some(value) => format!("{value:.3}"),
    }
}

fn ratio(spread: Option<Spread>) -> String {
    let Some(spread) = spread else { return "–".to_owned() };
    let (low, high) = (spread.low, spread.high);
    let mark = if spread.settled() { "" } else { "noisy: " };
    let digits = match spread.median {
        small if small < 0.1 => 4,
        middle if middle < 10.0 => 2,
        _ => 0,
    };
    format!("{mark}{:.digits$} ({low:.digits$}-{high:.digits$})", spread.median)
}

/// The rows as a Markdown table, aligned for reading as plain text too.
pub fn markdown(rows: &[Row]) -> String {
    let lines = rows.iter().map(Row::cells).collect::<Vec<_>>();
    let width = |column: usize| {
        let of = |cells: &[String; 8]| cells.get(column).map_or(0, |cell| cell.chars().count());
        let head = HEAD.get(column).map_or(0, |cell| cell.chars().count());
        lines.iter().map(of).max().unwrap_or(0).max(head)
    };
    let widths = (0..HEAD.len()).map(width).collect::<Vec<_>>();
    let line = |cells: &[String]| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| {
            let blanks = width.saturating_sub(cell.chars().count());
            format!(" {cell}{} ", " ".repeat(blanks))
        });
        format!("|{}|\n", padded.collect::<Vec<_>>().join("|"))
    };
    let mut text = line(&HEAD.map(str::to_owned));
    let rules = widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>();
    text.push_str(&line(&rules));
    for cells in &lines {
        text.push_str(&line(cells));
    }
    text
}

const INTRODUCTION: &str = "\
# Results of the side-by-side harness

Newest run first. Values are medians over rounds; ratios (Barnabas by Kafka, Barnabas by the limit) are taken within
a round, with their quartiles; *noisy* means that a quartile is more than 5% away from the median.
For CPU, latency, memory and start, less is better; for throughput, more. GB = 10⁹ bytes of whole requests or answers.
The limit is a loop of system calls under the same load in the same round (see `src/limit`).
";

/// Puts a run above the earlier ones of a file.
pub fn keep(path: &Path, command: &str, rows: &[Row]) -> Result<()> {
    let earlier = std::fs::read_to_string(path).unwrap_or_default();
    let earlier = earlier.find("\n## ").and_then(|at| earlier.get(at..)).unwrap_or_default();
    let mut text = INTRODUCTION.to_owned();
    let (date, machine) = (machine::now_utc(), machine::description());
    // Writing to a String cannot fail.
    let _ = write!(text, "\n## {date}\n\n{machine}  \n`{command}`\n\n{}", markdown(rows));
    text.push_str(earlier);
    std::fs::write(path, text).attempt(format!("writing {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_taken_within_rounds_and_marked_when_they_scatter() {
        let side = |values: &[f64]| values.iter().copied().map(Some).collect::<Vec<_>>();
        let steady = Row::of("s", "CPU", "s", &side(&[4.0, 8.0]), &side(&[1.0, 2.0]), &[]);
        assert_eq!(steady.to_kafka.unwrap().median, 0.25);
        assert_eq!(steady.to_limit, None);
        let scattered = Row::of("s", "CPU", "s", &side(&[1.0, 1.0]), &side(&[1.0, 2.0]), &[]);
        let text = markdown(&[steady, scattered]);
        assert!(text.contains("| 0.25 (0.25-0.25)") && text.contains("noisy: 1.50"), "{text}");
    }

    #[test]
    fn a_new_run_stands_above_the_earlier_ones() {
        let path = std::env::temp_dir().join(format!("benches-keep-{}.md", std::process::id()));
        let _ = std::fs::remove_file(&path);
        keep(&path, "first", &[]).unwrap();
        keep(&path, "second", &[]).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(text.find("`second`").unwrap() < text.find("`first`").unwrap());
        assert_eq!(text.matches("# Results").count(), 1);
    }
}
