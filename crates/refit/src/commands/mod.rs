//! One file per command group: its options, the call into the engine, the choice of its exit code.
//!
//! In: the options of one command. Out: an [`Answer`]. Knows nothing of streams.

pub(crate) mod catalog;
pub(crate) mod completion;
pub(crate) mod conversions;
pub(crate) mod init;
pub(crate) mod look;
pub(crate) mod merge;
pub(crate) mod people;
pub(crate) mod render;
pub(crate) mod request;
pub(crate) mod rollback;
pub(crate) mod schemas;
pub(crate) mod selection;
pub(crate) mod upgrade;
pub(crate) mod whole;

use refit_core::report::{Report, State};

use crate::args::{Cli, Command, Format};
use crate::failure::Failure;
use crate::output::Answer;
use crate::view::{CatalogDate, Version};

/// Runs the command of a command line.
pub(crate) fn run(cli: Cli) -> Result<Answer, Failure> {
    let global = &cli.global;
    if global.output == Format::Sarif && !matches!(cli.command, Command::Scan(_)) {
        return Err(Failure::usage("`-o sarif` is a form of `refit scan` alone").hint("use `-o json`"));
    }
    match cli.command {
        Command::Status(options) => look::status(&options, global),
        Command::Inventory(_) => look::inventory(global),
        Command::Plan(options) => upgrade::plan(&options, global),
        Command::Check(options) => look::check(&options, global),
        Command::Upgrade(options) => upgrade::upgrade(&options, global),
        Command::Resolve(options) => upgrade::resolve(&options, global),
        Command::Diff(options) => look::diff(&options, global),
        Command::Resume(options) => upgrade::resume(&options, global),
        Command::Pause(options) => people::pause(&options, global),
        Command::Cancel(options) => people::cancel(&options, global),
        Command::Rollback(options) => rollback::rollback(&options, global),
        Command::History(options) => people::history(&options, global),
        Command::Request(action) => request::run(&action, global),
        Command::Merge(options) => merge::run(&options, global),
        Command::Scan(options) => conversions::scan(&options, global),
        Command::Convert(options) => conversions::convert(&options, global),
        Command::Render(options) => render::run(&options, global),
        Command::Catalog(action) => catalog::run(&action, global),
        Command::Init(options) => init::run(&options, global),
        Command::Completion(options) => completion::run(&options),
        Command::Version => version(),
    }
}

fn version() -> Result<Answer, Failure> {
    let version = env!("CARGO_PKG_VERSION");
    let catalog = crate::wiring::built_in()?;
    let body = Version {
        version: version.into(),
        catalogs: vec![CatalogDate {
            platform: catalog.platform().to_string(),
            newest: catalog.newest().map(ToString::to_string).unwrap_or_default(),
            date: catalog.date().to_string(),
        }],
    };
    let mut text = format!("refit {version}\n");
    for known in &body.catalogs {
        let CatalogDate { platform, newest, date } = known;
        text.push_str(&format!("data about {platform} up to {newest}, of {date}\n"));
    }
    Answer::new(
        &Report::new(State::Done, format!("this is refit {version}"), Vec::new(), body),
        text,
    )
}
