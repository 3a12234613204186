//! Decides what an upgrade is and does: releases, inventory, findings, plans.
//!
//! In: values that the edges have read. Out: values that the engine carries out. No clock, file, environment, network
//! or async. Modules are listed in flow order; each imports only from those above it.

mod value;

pub mod digest;
pub mod structural;
pub mod release;
pub mod catalog;
pub mod generated;
pub mod options;
pub mod detect;
pub mod render;
pub mod published;
pub mod contents;
pub mod finding;
pub mod report;
pub mod places;
pub mod conversion;
pub mod edits;
pub mod configuration;
pub mod own_rules;
pub mod streams;
pub mod stage;
pub mod record;
pub mod roots;
pub mod meant;
pub mod overlays;
pub mod applied;
pub mod named;
pub mod patches;
pub mod history;
pub mod substitution;
pub mod snapshot;
pub mod operator;
pub mod updaters;
pub mod inventory;
pub mod copied;
pub mod check;
pub mod evidence;
pub mod route;
pub mod migration;
pub mod repair;
pub mod windows;
pub mod served;
pub mod pruning;
pub mod rollback;
pub mod request;
pub mod plan;
pub mod progress;
