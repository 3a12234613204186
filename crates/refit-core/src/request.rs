//! The text of a change request, for the person who reviews it.
//!
//! In: [`Facts`] of a plan. Out: title and body in Markdown. Long lists are cut with a pointer to the command that shows
//! all of them, so that the text stays readable and within what forges accept.

use serde::{Deserialize, Serialize};

use crate::finding::{Acceptance, Finding};
use crate::report::{ChangeLine, DecisionLine, FileChange};
use crate::stage::{Confirmation, Conversion, Later, Place, Stage, Wait, before};

/// The most entries of a list.
const LIST_LIMIT: usize = 25;

/// The most characters of a value.
const VALUE_LIMIT: usize = 160;

/// Which way a request leads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// To another release.
    #[default]
    Forward,
    /// Back to the release before.
    Back,
}

/// What a request is written from.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The platform as people write it.
    pub platform: &'a str,
    /// The clusters.
    pub clusters: &'a [String],
    /// What the clusters are called together.
    pub label: &'a str,
    /// Which way it leads.
    pub way: Way,
    /// The release before.
    pub from: &'a str,
    /// The release after.
    pub to: &'a str,
    /// The components with the image tags before and after.
    pub components: &'a [ComponentChange],
    /// The CRDs whose versions change.
    pub apis: &'a [ApiChange],
    /// Every open and noted decision.
    pub decisions: &'a [DecisionLine],
    /// What the user had changed against the generator.
    pub kept: &'a [ChangeLine],
    /// What was found about the patches of its kustomizations.
    pub patches: &'a [String],
    /// The objects that leave the plane.
    pub leaving: &'a [String],
    /// The images that the user's registry must have before the merge.
    pub mirror: &'a [String],
    /// What was found.
    pub findings: &'a [Finding],
    /// What was accepted.
    pub accepted: &'a [Acceptance],
    /// The files that change.
    pub files: &'a [FileChange],
    /// Where the request stands in the route of its upgrade.
    pub place: &'a Place,
    /// What it converts, by file.
    pub conversions: &'a [Conversion],
    /// What a person should look at.
    pub reviews: &'a [String],
}

/// One component before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentChange {
    /// The name.
    pub name: String,
    /// The image tag before; `None` when it is new.
    pub from: Option<String>,
    /// The image tag after; `None` when it leaves.
    pub to: Option<String>,
}

/// One CRD whose versions change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApiChange {
    /// The CRD's name.
    pub name: String,
    /// The versions that come.
    pub comes: Vec<String>,
    /// The versions that go.
    pub goes: Vec<String>,
    /// The storage version before and after, when it changes.
    pub storage: Option<(String, String)>,
}

/// The machine-readable hint at the end of a body; never authority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Block {
    /// The upgrade's id.
    pub upgrade: String,
    /// The place in the order of the upgrade's requests, from 1.
    pub index: usize,
    /// The places of the requests that must be merged before.
    pub needs: Vec<usize>,
    /// The commit of the branch.
    pub head: String,
}

/// Writes the title.
pub fn title(facts: &Facts<'_>) -> String {
    title_of(
        (facts.way, facts.place.stage),
        (facts.platform, facts.label),
        (facts.from, facts.to),
    )
}

/// Writes the title of a request by what it does, where, and between which releases.
pub fn title_of((way, stage): (Way, Stage), (platform, label): (&str, &str), (from, to): (&str, &str)) -> String {
    match (way, stage) {
        (Way::Forward, Stage::Upgrade) => format!("Upgrade {platform} on {label} from {from} to {to}"),
        (Way::Back, Stage::Upgrade) => format!("Roll back {platform} on {label} from {from} to {to}"),
        (Way::Forward, Stage::Convert) => format!("Convert API versions of {platform} on {label}, which {from} serves"),
        (Way::Forward, Stage::Migrate) => format!("Migrate stored objects of {platform} on {label}, which runs {from}"),
        (Way::Forward, Stage::Detach) => format!("Keep objects of {platform} on {label} from being pruned"),
        (Way::Back, stage) => format!("Undo what request `{}` of {platform} on {label} did", stage.word()),
    }
}

/// Writes the body without the machine block.
pub fn body(facts: &Facts<'_>) -> String {
    let (platform, on, from, to) = (facts.platform, on(facts.clusters), code(facts.from), code(facts.to));
    let mut text = match (facts.way, facts.place.stage) {
        (Way::Forward, Stage::Convert) => format!(
            "Converts objects on {on} to API versions that {from} serves already, so that the next request can bring a \
             release which takes the old ones away. Everything else stays byte for byte.\n"
        ),
        (Way::Forward, Stage::Detach) => {
            format!("Keeps objects on {on} from being pruned when a later request moves them or takes them away.\n")
        }
        (Way::Forward, Stage::Migrate) => format!(
            "Brings a Job on {on} that migrates stored objects to the versions that {from} stores. The next request takes \
             it out again.\n"
        ),
        (Way::Back, Stage::Convert | Stage::Detach | Stage::Migrate) => format!(
            "Takes back on {on} what a request before the upgrade to {} did; edits made since stay.\n",
            facts.place.target
        ),
        (Way::Forward, Stage::Upgrade) => format!(
            "Upgrades {platform} on {on} from {from} to {to}. The change keeps what you edited; everything else is what \
             the generator writes for {}.\n",
            facts.to
        ),
        (Way::Back, Stage::Upgrade) => format!(
            "Rolls {platform} on {on} back from {from} to {to}. The files become what they were before that upgrade, with \
             the edits made since.\n"
        ),
    };
    gate(&mut text, facts);
    open(&mut text, facts.decisions);
    route(&mut text, facts.place);
    list(&mut text, "Look at these by hand", facts.reviews, |review| line(review));
    list(&mut text, "Mirror before merging", facts.mirror, |image| code(image));
    components(&mut text, facts.components);
    list(&mut text, "API versions", facts.apis, api);
    let conversions: Vec<(&str, &String)> = facts.conversions.iter().flat_map(of_file).collect();
    list(&mut text, "Converted", &conversions, |(path, change)| {
        format!("{}: {}", code(path), line(change))
    });
    list(&mut text, "Objects that leave", facts.leaving, |object| code(object));
    list(
        &mut text,
        "Objects that will be pruned",
        &facts.place.pruned,
        |object| line(object),
    );
    list(&mut text, "Kept from your files", facts.kept, kept);
    list(&mut text, "Kustomize patches", facts.patches, |told| line(told));
    let noted: Vec<&DecisionLine> = facts.decisions.iter().filter(|decision| !decision.open).collect();
    list(&mut text, "Decided by rule or answer", &noted, |decision| {
        taken(decision)
    });
    list(&mut text, "Findings", facts.findings, finding);
    list(&mut text, "Accepted", facts.accepted, |acceptance| {
        code(&acceptance.to_string())
    });
    list(&mut text, "Files", facts.files, file);
    text
}

/// Adds the machine block to a body.
pub fn with_block(body: &str, block: &Block) -> Result<String, serde_json::Error> {
    Ok(format!("{body}\n<!-- refit {} -->\n", serde_json::to_string(block)?))
}

/// Reads the machine block of a body.
pub fn block(body: &str) -> Option<Block> {
    let (_, rest) = body.rsplit_once("<!-- refit ")?;
    let (json, _) = rest.split_once(" -->")?;
    serde_json::from_str(json).ok()
}

fn on(clusters: &[String]) -> String {
    let names: Vec<String> = clusters.iter().map(|name| code(name)).collect();
    match names.as_slice() {
        [only] => format!("cluster {only}"),
        several => format!("clusters {}, which share their generated files,", several.join(", ")),
    }
}

fn of_file(conversion: &Conversion) -> impl Iterator<Item = (&str, &String)> {
    conversion
        .changes
        .iter()
        .map(|change| (conversion.path.as_str(), change))
}

/// Says what must be true before the merge, and who confirmed what.
fn gate(text: &mut String, facts: &Facts<'_>) {
    let place = facts.place;
    for gate in &place.gate {
        text.push_str(&format!("\n## Do not merge before: {}\n\n", gate.wait.sentence()));
        if gate.wait == Wait::Migrated && place.stage == Stage::Convert {
            text.push_str(&format!(
                "Managed fields may name the first versions of these. As long as they do, the API server of {} refuses the \
                 versions that this request writes: live objects hold fields that the first ones do not know.\n\n",
                facts.from
            ));
        } else if gate.wait == Wait::Migrated {
            text.push_str(&format!(
                "{} no longer has the first versions of these. Where objects are stored in them, the API server refuses \
                 the definition; where managed fields name them, the object cannot be applied any more.\n\n",
                facts.to
            ));
        }
        for why in gate.why.iter().take(LIST_LIMIT) {
            text.push_str(&format!("- {}\n", line(why)));
        }
        pointer(text, gate.why.len(), "refit plan");
        if !gate.ways.is_empty() {
            text.push_str(&format!("\n```sh\n{}\n```\n", gate.ways.join("\n")));
        }
        let shown = match gate.shows {
            true => "`refit resume --snapshot FILE` (a snapshot shows it) or ",
            false => "",
        };
        text.push_str(&format!(
            "\nThen {shown}`refit resume --confirm {}` (your word) opens this request for its merge.\n",
            gate.wait.word()
        ));
    }
    // Those of earlier requests stand in their own texts.
    let own = place.confirmations.iter().filter(|one| one.about.index == place.index);
    let own: Vec<&Confirmation> = own.collect();
    list(text, "Confirmed", &own, |confirmation| {
        let shown = match &confirmation.snapshot {
            Some(digest) => format!(", shown by snapshot {}", code(digest)),
            None => String::new(),
        };
        format!(
            "{}: {} on {}{shown}",
            confirmation.about.what.sentence(),
            line(&confirmation.by),
            confirmation.at
        )
    });
}

/// Says where the request stands among those of its upgrade; nothing where it is the only one.
fn route(text: &mut String, place: &Place) {
    if place.count() == 1 {
        return;
    }
    text.push_str(&format!(
        "\n## Request {} of {} on the way to {}\n\nEach must be merged and reconciled before the next one is opened with \
         `refit resume`.\n",
        place.index,
        place.count(),
        place.target
    ));
    for (at, later) in place.later.iter().enumerate().take(LIST_LIMIT) {
        if at == 0 {
            text.push('\n');
        }
        text.push_str(&format!("{}. {}\n", place.index + at + 1, follows(later)));
    }
}

fn follows(later: &Later) -> String {
    match before(later.gate.iter().map(|gate| gate.wait)) {
        Some(before) => format!("{}; {before}", later.title),
        None => later.title.clone(),
    }
}

fn open(text: &mut String, decisions: &[DecisionLine]) {
    let open: Vec<&DecisionLine> = decisions.iter().filter(|decision| decision.open).collect();
    if open.is_empty() {
        return;
    }
    let title = format!("Decisions needed: {}", open.len());
    text.push_str(&format!(
        "\n## {title}\nDo not merge before they are taken; your side stands in the file.\n\n"
    ));
    for decision in open.iter().take(LIST_LIMIT) {
        text.push_str(&format!("- {}\n", sentence(&decision.message)));
        for (answer, value) in [("ours", &decision.ours), ("theirs", &decision.theirs)] {
            if !decision.takes_theirs() && answer == "theirs" {
                continue;
            }
            let command = code(&format!("refit resolve {} {answer}", decision.id));
            let value = value.as_deref().map_or_else(|| "without it".to_owned(), code);
            text.push_str(&format!("  - {command}: {value}\n"));
        }
    }
    pointer(text, open.len(), "refit resolve");
}

fn components(text: &mut String, components: &[ComponentChange]) {
    if components.is_empty() {
        return;
    }
    text.push_str("\n## Components\n\n| component | before | after |\n|---|---|---|\n");
    for component in components {
        let tag = |tag: &Option<String>| tag.clone().unwrap_or_else(|| "-".into());
        text.push_str(&format!(
            "| {} | {} | {} |\n",
            component.name,
            tag(&component.from),
            tag(&component.to)
        ));
    }
}

fn list<T>(text: &mut String, title: &str, entries: &[T], line: impl Fn(&T) -> String) {
    if entries.is_empty() {
        return;
    }
    text.push_str(&format!("\n## {title}\n\n"));
    for entry in entries.iter().take(LIST_LIMIT) {
        text.push_str(&format!("- {}\n", line(entry)));
    }
    pointer(text, entries.len(), "refit plan");
}

fn pointer(text: &mut String, count: usize, command: &str) {
    if count > LIST_LIMIT {
        text.push_str(&format!("- ... and {} more: run `{command}`\n", count - LIST_LIMIT));
    }
}

fn api(change: &ApiChange) -> String {
    let versions = |versions: &[String]| {
        versions
            .iter()
            .map(|version| code(version))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let mut parts = Vec::new();
    if !change.comes.is_empty() {
        parts.push(format!("{} {}", versions(&change.comes), agree(&change.comes, "come")));
    }
    if !change.goes.is_empty() {
        parts.push(format!("{} {}", versions(&change.goes), agree(&change.goes, "go")));
    }
    if let Some((old, new)) = &change.storage {
        parts.push(format!("stored as {} instead of {}", code(new), code(old)));
    }
    format!("{}: {}", code(&change.name), parts.join(", "))
}

/// Puts a verb into the number of its subject.
fn agree(subject: &[String], verb: &str) -> String {
    match (subject.len(), verb) {
        (1, "go") => "goes".to_owned(),
        (1, verb) => format!("{verb}s"),
        _ => verb.to_owned(),
    }
}

fn kept(change: &ChangeLine) -> String {
    let value = |value: &Option<String>| value.as_deref().map_or_else(|| "nothing".to_owned(), code);
    if change.field.is_empty() && change.generated.is_none() {
        return format!("{}: added by you", change.object);
    }
    if change.field.is_empty() && change.has.is_none() {
        return format!("{}: deleted by you", change.object);
    }
    let field = match change.field.as_str() {
        "" => String::new(),
        field => format!(" {}", code(field)),
    };
    format!(
        "{}{field}: you have {}, the generator wrote {}",
        change.object,
        value(&change.has),
        value(&change.generated)
    )
}

fn taken(decision: &DecisionLine) -> String {
    let by = match &decision.answer {
        Some(answer) => format!("answered {}", code(answer)),
        None => "by rule".to_owned(),
    };
    let message = decision.message_as_taken();
    if message.contains("refit resolve") {
        return format!("{} ({by})", sentence(message));
    }
    let command = code(&format!("refit resolve {} {}", decision.id, decision.ways()));
    format!("{} ({by}; change it with {command})", sentence(message))
}

fn finding(finding: &Finding) -> String {
    let accepted = if finding.accepted { ", accepted" } else { "" };
    let severity = finding.severity.word();
    format!(
        "**{}** ({severity}{accepted}) {}: {}; {}",
        finding.code,
        code(&finding.subject),
        line(&finding.message),
        line(&finding.remedy)
    )
}

fn file(file: &FileChange) -> String {
    format!(
        "{} {}: +{} -{} lines",
        code(&file.path),
        file.change,
        file.added,
        file.removed
    )
}

fn sentence(message: &str) -> String {
    line(message).trim_end_matches('.').to_owned()
}

/// Makes one line of a text that may have several.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Writes a value as code of one line; backticks inside get a longer fence.
fn code(value: &str) -> String {
    let mut text = line(value);
    if text.chars().count() > VALUE_LIMIT {
        text = text.chars().take(VALUE_LIMIT).chain("...".chars()).collect();
    }
    match (text.is_empty(), text.contains('`')) {
        (true, _) => "(empty)".to_owned(),
        (_, true) => format!("`` {text} ``"),
        _ => format!("`{text}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Code;
    use crate::release::Version;
    use crate::stage::{Gate, Matter};

    fn decision(id: &str, open: bool) -> DecisionLine {
        DecisionLine {
            id: id.into(),
            path: "g.yaml".into(),
            object: "Deployment/source-controller".into(),
            field: "spec.replicas".into(),
            base: Some("1".into()),
            ours: Some("2".into()),
            theirs: Some("3".into()),
            class: "sizing".into(),
            rule: "sizing-kept".into(),
            outcome: if open { "conflict" } else { "noted" }.into(),
            message: "You have 2 replicas, the new release has 3.".into(),
            answer: None,
            open,
        }
    }

    fn facts<'a>(clusters: &'a [String]) -> Facts<'a> {
        Facts {
            platform: "flux",
            clusters,
            label: "production",
            way: Way::Forward,
            from: "v2.6.4",
            to: "v2.7.5",
            components: &[],
            apis: &[],
            decisions: &[],
            kept: &[],
            patches: &[],
            leaving: &[],
            mirror: &[],
            findings: &[],
            accepted: &[],
            files: &[],
            place: only(),
            conversions: &[],
            reviews: &[],
        }
    }

    fn only() -> &'static Place {
        static ONLY: std::sync::LazyLock<Place> = std::sync::LazyLock::new(|| Place::only(&Version::new(2, 7, 5)));
        &ONLY
    }

    #[test]
    fn a_reviewer_reads_everything_that_matters_with_open_decisions_first() {
        let components = [
            ComponentChange {
                name: "source-controller".into(),
                from: Some("v1.6.2".into()),
                to: Some("v1.7.4".into()),
            },
            ComponentChange {
                name: "source-watcher".into(),
                from: None,
                to: Some("v2.0.3".into()),
            },
        ];
        let apis = [ApiChange {
            name: "buckets.source.toolkit.fluxcd.io".into(),
            comes: vec![],
            goes: vec!["v1beta1".into()],
            storage: Some(("v1beta2".into(), "v1".into())),
        }];
        let kept = [ChangeLine {
            path: "g.yaml".into(),
            object: "Deployment/helm-controller".into(),
            field: "spec.replicas".into(),
            generated: Some("1".into()),
            has: Some("3".into()),
        }];
        let findings = [Finding::new(
            Code::MixedState,
            "g.yaml",
            "labels say v2.6.4, header says v2.6.3",
        )];
        let text = body(&Facts {
            components: &components,
            apis: &apis,
            decisions: &[decision("d1", true), decision("d2", false)],
            kept: &kept,
            patches: &["2 patches reach what they reached before".into()],
            leaving: &["Service/old in flux-system".into()],
            mirror: &["registry.example/fluxcd/source-controller:v1.7.4".into()],
            findings: &findings,
            accepted: &["MixedState".parse().unwrap()],
            files: &[FileChange {
                path: "g.yaml".into(),
                change: "changed".into(),
                digest: String::new(),
                added: 5,
                removed: 4,
            }],
            ..facts(&["production".into()])
        });
        let expected = "\
Upgrades flux on cluster `production` from `v2.6.4` to `v2.7.5`. The change keeps what you edited; everything else is what \
the generator writes for v2.7.5.

## Decisions needed: 1
Do not merge before they are taken; your side stands in the file.

- You have 2 replicas, the new release has 3
  - `refit resolve d1 ours`: `2`
  - `refit resolve d1 theirs`: `3`

## Mirror before merging

- `registry.example/fluxcd/source-controller:v1.7.4`

## Components

| component | before | after |
|---|---|---|
| source-controller | v1.6.2 | v1.7.4 |
| source-watcher | - | v2.0.3 |

## API versions

- `buckets.source.toolkit.fluxcd.io`: `v1beta1` goes, stored as `v1` instead of `v1beta2`

## Objects that leave

- `Service/old in flux-system`

## Kept from your files

- Deployment/helm-controller `spec.replicas`: you have `3`, the generator wrote `1`

## Kustomize patches

- 2 patches reach what they reached before

## Decided by rule or answer

- You have 2 replicas, the new release has 3 (by rule; change it with \
`refit resolve d2 <ours|theirs|VALUE>`)

## Findings

- **MixedState** (warning) `g.yaml`: labels say v2.6.4, header says v2.6.3; check which release runs; the upgrade brings \
all of them to the target, save what you keep

## Accepted

- `MixedState`

## Files

- `g.yaml` changed: +5 -4 lines
";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_request_of_several_says_what_it_waits_for_and_what_follows() {
        let version = |minor| Version::new(2, minor, 0);
        let place = Place {
            stage: Stage::Upgrade,
            index: 2,
            target: version(9),
            gate: vec![Gate {
                wait: Wait::Migrated,
                why: vec!["`Bucket`: objects may be stored as `v1beta2`".into()],
                ways: vec!["kubectl get buckets -A".into()],
                shows: true,
            }],
            confirmations: vec![Confirmation {
                about: Matter {
                    what: Wait::Reconciled,
                    from: version(6),
                    to: Version::new(2, 7, 5),
                    index: 2,
                },
                managed: vec![],
                by: "Ada <ada@example.org>".into(),
                at: "2026-01-01T12:00:00Z".parse().unwrap(),
                snapshot: None,
                crds: vec![],
            }],
            later: vec![Later {
                stage: Stage::Upgrade,
                title: "Upgrade flux on production from v2.8.0 to v2.9.0".into(),
                gate: vec![Gate {
                    wait: Wait::Migrated,
                    why: vec![],
                    ways: vec![],
                    shows: true,
                }],
            }],
            pruned: vec!["Job/migrate in flux-system".into()],
        };
        let conversions = [Conversion {
            path: "apps/a.yaml".into(),
            changes: vec!["HelmRelease/a: v2beta2 becomes v2".into()],
        }];
        let text = body(&Facts {
            place: &place,
            conversions: &conversions,
            reviews: &["apps/b.yaml:3: `spec.chart` moved".into()],
            ..facts(&["production".into()])
        });
        let (_, rest) = text.split_once('\n').unwrap();
        let expected = "
## Do not merge before: stored objects are migrated

v2.7.5 no longer has the first versions of these. Where objects are stored in them, the API server refuses the definition; \
where managed fields name them, the object cannot be applied any more.

- `Bucket`: objects may be stored as `v1beta2`

```sh
kubectl get buckets -A
```

Then `refit resume --snapshot FILE` (a snapshot shows it) or `refit resume --confirm migrated` (your word) opens this \
request for its merge.

## Confirmed

- what was merged before is reconciled: Ada <ada@example.org> on 2026-01-01T12:00:00Z

## Request 2 of 3 on the way to v2.9.0

Each must be merged and reconciled before the next one is opened with `refit resume`.

3. Upgrade flux on production from v2.8.0 to v2.9.0; do not merge before: stored objects are migrated

## Look at these by hand

- apps/b.yaml:3: `spec.chart` moved

## Converted

- `apps/a.yaml`: HelmRelease/a: v2beta2 becomes v2

## Objects that will be pruned

- Job/migrate in flux-system
";
        assert_eq!(rest, expected);
    }

    #[test]
    fn a_thousand_decisions_stay_readable() {
        let decisions: Vec<DecisionLine> = (0..2000).map(|n| decision(&format!("d{n}"), n % 2 == 0)).collect();
        let text = body(&Facts {
            decisions: &decisions,
            ..facts(&["production".into()])
        });
        assert!(text.contains("## Decisions needed: 1000"));
        assert!(text.contains("- ... and 975 more: run `refit resolve`"));
        assert!(text.contains("- ... and 975 more: run `refit plan`"));
        assert!(text.len() < 20_000, "{}", text.len());
    }

    #[test]
    fn values_with_line_breaks_and_backticks_stay_one_line_of_code() {
        assert_eq!(code("a\n  b"), "`a b`");
        assert_eq!(code("a `b`"), "`` a `b` ``");
        assert_eq!(code(&"x".repeat(500)).len(), VALUE_LIMIT + 5);
    }

    #[test]
    fn the_machine_block_is_small_and_reads_back() {
        let wanted = Block {
            upgrade: "0123456789".into(),
            index: 1,
            needs: vec![],
            head: "f".repeat(64),
        };
        let text = with_block("body", &wanted).unwrap();
        assert!(text.len() < 1024);
        assert_eq!(block(&text), Some(wanted));
        assert_eq!(block("nothing"), None);
    }
}
