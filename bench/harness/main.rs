//! Measures `refit` beside its peers and prints a table: speed, peak memory, quality, each against its bar.
//!
//! Started by `bench/run`. Each contestant is a cold process that reads three files and writes one; contestants take
//! turns within a round, so that a busy moment of the machine hits all of them.

#![expect(clippy::unwrap_used, reason = "a benchmark may fail where it stands")]

mod conversions;
mod fleet;
mod inputs;
mod measure;
mod objects;
mod quality;
mod report;
mod upgrade;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use inputs::{Case, Releases};
use measure::{Contestant, Measured};
use report::Report;

/// The programs and options of one run.
struct Bench {
    refit: PathBuf,
    kyaml: PathBuf,
    folder: PathBuf,
    runs: usize,
    /// The case that is measured; all of them where none is named.
    only: Option<String>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [refit, kyaml, options @ ..] = arguments.as_slice() else {
        eprintln!("usage: bench REFIT KYAML_MERGE3 [--runs N] [--case LETTER] [--strict]");
        return ExitCode::from(2);
    };
    let value = |name: &str| {
        let at = options.iter().position(|option| option == name)?;
        options.get(at + 1)
    };
    let runs = value("--runs").and_then(|text| text.parse().ok()).unwrap_or(5);
    let folder = Path::new("bench/out/inputs").to_path_buf();
    let bench = Bench {
        refit: refit.into(),
        kyaml: kyaml.into(),
        folder,
        runs,
        only: value("--case").cloned(),
    };
    let report = bench.run();
    println!("{report}");
    let strict = options.iter().any(|option| option == "--strict");
    ExitCode::from(u8::from(strict && report.missed() > 0))
}

impl Bench {
    fn run(&self) -> Report {
        let releases = Releases::find();
        let mut report = Report::new(releases.origin(), self.runs);
        let (refit, folder) = (&self.refit, &self.folder);
        for case in ["a", "b", "c", "d", "e", "f", "g"] {
            match case {
                _ if self.only.as_ref().is_some_and(|only| only != case) => {}
                "a" => self.typical(&releases, &mut report),
                "b" => self.dense(&releases, &mut report),
                "c" => self.sparse(&mut report),
                "d" => self.linear(&mut report),
                "e" => upgrade::measure(refit, folder, self.runs, &mut report),
                "f" => fleet::measure(refit, folder, self.runs, &mut report),
                _ => conversions::measure(refit, folder, self.runs, &mut report),
            }
        }
        report
    }

    /// (a) Few edits of the user, a new release.
    fn typical(&self, releases: &Releases, report: &mut Report) {
        let case = inputs::typical(releases);
        let measured = self.contest(&case, &[Contestant::Refit, Contestant::Kyaml, Contestant::Git]);
        report.case("a", &case, &measured);
        report.at_least(
            "a",
            "times faster than kyaml",
            measured[1].seconds / measured[0].seconds,
            20.0,
        );
        report.at_most(
            "a",
            "of kyaml's peak memory",
            measured[0].megabytes / measured[1].megabytes,
            0.5,
        );
    }

    /// (b) Every document changed on both sides.
    fn dense(&self, releases: &Releases, report: &mut Report) {
        let case = inputs::dense(releases);
        let contestants = [
            Contestant::Refit,
            Contestant::Kyaml,
            Contestant::Git,
            Contestant::RefitOnOneCore,
        ];
        let measured = self.contest(&case, &contestants);
        report.case("b", &case, &measured);
        report.at_least(
            "b",
            "times faster than kyaml",
            measured[1].seconds / measured[0].seconds,
            4.0,
        );
        report.at_most("b", "seconds on one core", measured[3].seconds, 0.4);
        report.at_most(
            "b",
            "of kyaml's peak memory",
            measured[0].megabytes / measured[1].megabytes,
            0.5,
        );
    }

    /// (c) A thousand documents, one in a hundred changed.
    fn sparse(&self, report: &mut Report) {
        let case = inputs::small_documents(1_000, 100);
        let measured = self.contest(&case, &[Contestant::Refit, Contestant::Kyaml, Contestant::Git]);
        report.case("c", &case, &measured);
        report.at_most("c", "milliseconds", measured[0].seconds * 1_000.0, 20.0);
    }

    /// (d) Ten times the objects, all changed: time and memory grow no faster.
    fn linear(&self, report: &mut Report) {
        let only = [Contestant::Refit];
        let (thousand, more) = (inputs::small_documents(1_000, 1), inputs::small_documents(10_000, 1));
        let (small, large) = (self.contest(&thousand, &only), self.contest(&more, &only));
        report.case("d", &thousand, &small);
        report.case("d", &more, &large);
        report.at_most(
            "d",
            "times the time for 10 times the objects",
            large[0].seconds / small[0].seconds,
            12.0,
        );
        report.at_most("d", "times the memory", large[0].megabytes / small[0].megabytes, 12.0);
    }

    /// Writes a case and measures its contestants, in turn, round by round.
    fn contest(&self, case: &Case, contestants: &[Contestant]) -> Vec<Measured> {
        let files = case.write(&self.folder);
        let programs = measure::Programs {
            refit: &self.refit,
            kyaml: &self.kyaml,
        };
        measure::contest(&programs, &files, contestants, self.runs)
            .into_iter()
            .map(|mut measured| {
                measured.quality = Some(quality::judge(case, &measured.output));
                measured
            })
            .collect()
    }
}
