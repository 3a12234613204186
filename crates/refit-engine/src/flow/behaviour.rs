//! What a release reads otherwise in the objects that a cluster applies.
//!
//! In: the request that comes next, the files, the rules about behaviour. Out: notes with the place of each object that a
//! rule is about, told by the request whose release changes it. Edits nothing.

use refit_core::finding::{Code, Finding};
use refit_core::inventory::Group;
use refit_core::stage::Stage;
use refit_core::streams::Streams;
use refit_manifest::convert::{self, Rule};

use super::ground::Flow;
use super::order::Request;
use super::served;

/// The most places of one rule that are named.
const FEW: usize = 5;

/// Looks at the objects that a group applies.
pub(super) fn look(flow: Flow<'_>, group: &Group<'_>, request: &Request) -> Vec<Finding> {
    let hop = &request.hop;
    let catalog = flow.catalog();
    let passed = catalog.rules().behaviour(&hop.from, &hop.to);
    if request.stage != Stage::Upgrade || passed.is_empty() {
        return Vec::new();
    }
    let rules: Vec<&Rule> = passed.iter().map(|rule| &rule.rule).collect();
    let streams = Streams::split(&flow.ground.snapshot.tree);
    let mut told: Vec<Told> = Vec::new();
    let repositories = [served::repository(&flow.ground.snapshot, &streams)];
    for file in served::reached(&repositories, group).files {
        let path = &file.path;
        let Some(stream) = streams.get(path) else { continue };
        let roots = stream
            .documents()
            .iter()
            .filter_map(|document| Some((document, document.root()?)));
        for (document, root) in roots {
            for review in convert::convert(root, None, &rules).reviews {
                let place = format!("{path}:{}", document.line_of(review.span.start));
                match told.iter_mut().find(|told| told.message == review.message) {
                    Some(told) => told.places.push(place),
                    None => told.push(Told {
                        message: review.message,
                        places: vec![place],
                    }),
                }
            }
        }
    }
    let finding = |told: Told| told.finding(&hop.to.to_string());
    told.into_iter().map(finding).collect()
}

/// What one rule says, and of which places.
struct Told {
    message: String,
    places: Vec<String>,
}

impl Told {
    fn finding(self, to: &str) -> Finding {
        let mut places = self.places.into_iter();
        let first = places.next().unwrap_or_default();
        let more: Vec<String> = places.collect();
        let named: Vec<&str> = more.iter().take(FEW).map(String::as_str).collect();
        let also = match (named.is_empty(), more.len().saturating_sub(FEW)) {
            (true, _) => String::new(),
            (false, 0) => format!(" (also {})", named.join(", ")),
            (false, rest) => format!(" (also {} and {rest} more)", named.join(", ")),
        };
        let message = format!("with {to}: {}{also}", self.message);
        Finding::new(Code::BehaviourChanges, first, message)
    }
}
