//! Customisations of real repositories on pristine Flux manifests, upgraded and checked.
//!
//! Each edit is tried on every third version, to the next minor and to the newest, as generated, re-indented and with
//! carriage returns, alone and in pairs. By default a part of that runs; `REFIT_SWEEP=all` runs everything.

#[path = "customisations/edits.rs"]
mod edits;
#[path = "customisations/sweep.rs"]
mod sweep;

use edits::{EDITS, Edit, Pristine};
use refit_testkit::flux::{Manifests, Set};
use refit_testkit::random::Random;
use sweep::{FORMATS, Format, Found, Target, Upgrade, every_third, everything};

/// Tries each edit in one format and to one target.
fn each_edit(format: Format, target: Target, least: usize) {
    let Some(manifests) = Manifests::find() else { return };
    let mut found = Found::default();
    for (number, edit) in EDITS.iter().enumerate() {
        for (place, from) in every_third(&manifests).into_iter().enumerate() {
            // The part that runs by default meets each edit and, over the edits, each version.
            if everything() || (place + number) % 24 == 0 {
                Upgrade {
                    manifests: &manifests,
                    from,
                    target,
                    edits: vec![edit],
                    format,
                }
                .run(&mut found);
            }
        }
    }
    found.expect_none(least);
}

#[test]
fn each_edit_survives_the_next_minor() {
    each_edit(Format::AsGenerated, Target::NextMinor, 30);
}

#[test]
fn each_edit_survives_the_newest() {
    each_edit(Format::AsGenerated, Target::Newest, 30);
}

#[test]
fn each_edit_survives_after_a_formatter_that_indents_lists() {
    each_edit(Format::ListsIndented, Target::NextMinor, 30);
    each_edit(Format::ListsIndented, Target::Newest, 30);
}

#[test]
fn each_edit_survives_after_a_formatter_with_four_blanks() {
    each_edit(Format::FourBlanks, Target::NextMinor, 30);
    each_edit(Format::FourBlanks, Target::Newest, 30);
}

#[test]
fn each_edit_survives_with_carriage_returns() {
    each_edit(Format::CarriageReturns, Target::NextMinor, 30);
    each_edit(Format::CarriageReturns, Target::Newest, 30);
}

#[test]
fn a_formatter_alone_changes_nothing() {
    let Some(manifests) = Manifests::find() else { return };
    let nothing = Edit {
        name: "nothing",
        apply: |pristine| Some(pristine.text.to_owned()),
    };
    let mut found = Found::default();
    for (place, from) in every_third(&manifests).into_iter().enumerate() {
        for (number, format) in FORMATS.into_iter().enumerate() {
            for target in [Target::NextMinor, Target::Newest] {
                if everything() || (place + number) % 8 == 0 {
                    Upgrade {
                        manifests: &manifests,
                        from,
                        target,
                        edits: vec![&nothing],
                        format,
                    }
                    .run(&mut found);
                }
            }
        }
    }
    found.expect_none(30);
}

#[test]
fn pairs_of_edits_survive_together() {
    let Some(manifests) = Manifests::find() else { return };
    let mut random = Random::new(20);
    let mut found = Found::default();
    let versions = every_third(&manifests);
    for _ in 0..if everything() { 1500 } else { 60 } {
        let (Some(first), Some(second)) = (random.pick(&EDITS), random.pick(&EDITS)) else {
            return;
        };
        let (Some(from), Some(format)) = (random.pick(&versions), random.pick(&FORMATS)) else {
            return;
        };
        let target = if random.once_in(2) {
            Target::NextMinor
        } else {
            Target::Newest
        };
        Upgrade {
            manifests: &manifests,
            from,
            target,
            edits: vec![first, second],
            format: *format,
        }
        .run(&mut found);
    }
    found.expect_none(30);
}

#[test]
fn each_edit_has_a_place_in_some_version() {
    let Some(manifests) = Manifests::find() else { return };
    let newest = manifests.newest().expect("there is one");
    let newer = manifests.read(newest, Set::Default).expect("it is there");
    let texts: Vec<String> = every_third(&manifests)
        .into_iter()
        .filter_map(|version| manifests.read(version, Set::Default))
        .collect();
    for edit in &EDITS {
        let places = texts
            .iter()
            .filter(|text| (edit.apply)(&Pristine { text, newer: &newer }).is_some())
            .count();
        println!("{}: {places} of {} versions", edit.name, texts.len());
        assert!(places >= 5, "{}: only {places} places", edit.name);
    }
}
