//! The flows of Git mode.
//!
//! In: ports and what the user asks. Out: reports. Each flow looks at the ground, lets the core decide, and does what it
//! says; nothing is kept between two runs but what stands in the repository and on the forge.

mod behaviour;
mod broken;
mod cancel;
mod carry;
mod contents;
mod decide;
mod detach;
mod differ;
mod gate;
mod words;
mod ground;
mod history;
mod init;
mod job;
mod journey;
mod lines;
mod look;
mod modules;
mod notes;
mod observe;
mod order;
mod past;
mod pause;
mod people;
mod prepare;
mod replay;
mod requests;
mod resume;
mod reviewed;
mod rollback;
mod saved;
mod shown;
mod served;
mod sides;
mod standing;
mod status;
mod target;
mod under_way;
mod whose;

pub(crate) use cancel::cancel;
pub(crate) use carry::carry_out;
pub(crate) use decide::resolve;
pub(crate) use differ::diff;
pub(crate) use history::history;
pub(crate) use init::init;
pub(crate) use look::{check, inventory};
pub use pause::Pausing;
pub(crate) use pause::pause;
pub use prepare::Prepared;
pub(crate) use prepare::plan;
pub(crate) use requests::{close as request_close, list as request_list, merge as request_merge, show as request_show};
pub(crate) use resume::resume;
pub(crate) use saved::plan_saved;
pub(crate) use status::status;

/// Says how many decisions are open.
fn decisions(open: usize) -> String {
    match open {
        1 => "1 decision is needed".to_owned(),
        several => format!("{several} decisions are needed"),
    }
}
