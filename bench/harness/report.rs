//! The table that a run prints.

use std::fmt;

use crate::inputs::Case;
use crate::measure::{Contestant, Measured};

/// The lines of the table and the bars, in the order in which they were measured.
pub(crate) struct Report {
    lines: Vec<String>,
    bars: Vec<Bar>,
}

struct Bar {
    case: &'static str,
    what: String,
    value: f64,
    limit: String,
    met: bool,
}

impl Report {
    pub(crate) fn new(origin: &str, runs: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let lines = vec![
            format!("inputs: {origin}; {cores} cores; medians of {runs} runs"),
            "comments lost, bytes elsewhere and conflict markers are counted against the text of a perfect merge"
                .into(),
            String::new(),
            format!(
                "{:<24}{:<17}{:>10}{:>9}{:>9} {:>9} {:>10} {:>8} {:>5}",
                "case", "who", "time", "cpu", "memory", "comments", "bytes", "conflict", "exit"
            ),
            format!(
                "{:<69} {:>9} {:>10} {:>8} {:>5}",
                "", "lost", "elsewhere", "markers", "code"
            ),
        ];
        Self {
            lines,
            bars: Vec::new(),
        }
    }

    /// Adds the lines of a case; refit's result must be perfect.
    pub(crate) fn case(&mut self, name: &'static str, case: &Case, measured: &[Measured]) {
        self.lines.push(format!("({name}) {}, {}", case.title, case.sizes()));
        for one in measured {
            let quality = one.quality.as_ref();
            let code = one.code.map_or_else(|| "-".into(), |code| code.to_string());
            self.lines.push(format!(
                "{:<24}{:<17}{:>8.1}ms{:>8.2}s{:>7.1}MB {} {code:>5}",
                "",
                one.contestant.name(),
                one.seconds * 1_000.0,
                one.cpu_seconds,
                one.megabytes,
                quality.map(ToString::to_string).unwrap_or_default(),
            ));
            if let (Contestant::Refit, Some(quality)) = (one.contestant, quality) {
                let wrong = quality.comments_lost + quality.bytes_elsewhere + quality.markers;
                let what = "comments lost, bytes elsewhere, markers".to_owned();
                let met = quality.is_perfect() && one.code == Some(0);
                self.bars.push(Bar {
                    case: name,
                    what,
                    value: wrong as f64,
                    limit: "0".into(),
                    met,
                });
            }
        }
    }

    /// Adds a line beside the cases.
    pub(crate) fn note(&mut self, line: String) {
        self.lines.push(line);
    }

    pub(crate) fn at_least(&mut self, case: &'static str, what: &str, value: f64, limit: f64) {
        let bar = Bar {
            case,
            what: what.into(),
            value,
            limit: format!("at least {limit}"),
            met: value >= limit,
        };
        self.bars.push(bar);
    }

    pub(crate) fn at_most(&mut self, case: &'static str, what: &str, value: f64, limit: f64) {
        let bar = Bar {
            case,
            what: what.into(),
            value,
            limit: format!("at most {limit}"),
            met: value <= limit,
        };
        self.bars.push(bar);
    }

    /// Gives the number of bars that were missed.
    pub(crate) fn missed(&self) -> usize {
        self.bars.iter().filter(|bar| !bar.met).count()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.lines {
            writeln!(formatter, "{}", line.trim_end())?;
        }
        writeln!(
            formatter,
            "\n{:<6}{:<48}{:>10}  {:<14}result",
            "case", "bar", "measured", "asked"
        )?;
        for bar in &self.bars {
            let met = if bar.met { "met" } else { "MISSED" };
            let case = format!("({})", bar.case);
            writeln!(
                formatter,
                "{case:<6}{:<48}{:>10.2}  {:<14}{met}",
                bar.what, bar.value, bar.limit
            )?;
        }
        write!(
            formatter,
            "\n{} of {} bars met",
            self.bars.len() - self.missed(),
            self.bars.len()
        )
    }
}
