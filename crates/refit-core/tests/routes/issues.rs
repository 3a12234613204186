//! What people reported about routes (facts/flux.md section 4), each named after its issue, and what stops a route.

use refit_core::finding::{Code, Severity};
use refit_core::migration;
use refit_core::release::Version;
use refit_core::route::{self, Floor, Known, Migration, NoRoute, Source, Start, Stored, Used};

use crate::support::{CATALOG, FOUR, SIX, catalog_versions, components, fresh, version};

fn since(first: &str, from: &str, migrations: &[Migration]) -> Start {
    let (known, from) = (Known::new(&CATALOG), version(from));
    let stored = Stored::concluded(&known, Source::Since(version(first)), &from, migrations);
    Start::at(&from, stored, components(SIX), &known)
}

fn find(start: &Start, to: &str) -> Result<route::Route, NoRoute> {
    route::find(start, &version(to), &catalog_versions(), &Known::new(&CATALOG))
}

fn stored(hop: &route::Hop) -> Vec<String> {
    let stored = hop.gate.iter().filter(|stale| stale.used == Used::Stored);
    stored.map(route::Stale::name).collect()
}

fn stops(route: &route::Route) -> Vec<String> {
    route.hops.iter().map(|hop| hop.to.to_string()).collect()
}

#[test]
fn flux2_5598_a_version_stored_since_an_older_release_is_migrated_before_2_7() {
    let start = since("v2.1.2", "v2.6.4", &[]);
    let route = find(&start, "v2.7.5").unwrap();
    assert_eq!(stops(&route), ["v2.7.5"]);
    assert_eq!(
        stored(&route.hops[0]),
        ["HelmRelease `v2beta1`", "ImageUpdateAutomation `v1beta1`"]
    );
    let said = route.findings();
    let assumed = said
        .iter()
        .find(|finding| finding.code == Code::StoredVersionsAssumed)
        .unwrap();
    assert!(
        assumed
            .message
            .contains("`refit.yaml` says that the plane began with v2.1.2"),
        "{}",
        assumed.message
    );
    assert!(
        assumed.remedy.contains("kubectl get crd -o custom-columns="),
        "{}",
        assumed.remedy
    );
    // Once that was done, nothing stored stands in the way.
    let done = Migration {
        at: version("v2.6.4"),
        crds: route.hops[0].gate.iter().map(|stale| stale.crd.clone()).collect(),
    };
    let route = find(&since("v2.1.2", "v2.6.4", &[done]), "v2.7.5").unwrap();
    assert_eq!(stored(&route.hops[0]), Vec::<String>::new());
    let lines = migration::commands(&route.hops[0].gate, &version("v2.6.4"));
    assert!(
        lines
            .iter()
            .any(|line| line == "migrate helmreleases.helm.toolkit.fluxcd.io"),
        "{lines:?}"
    );
    assert_eq!(
        migration::commands(&route.hops[0].gate, &version("v2.7.5"))[0],
        "flux migrate"
    );
}

#[test]
fn flux2_3362_from_0_36_to_0_37_the_image_kinds_that_began_as_v1alpha2_are_migrated_first() {
    let route = find(&since("v0.15.3", "v0.36.0", &[]), "v0.37.0").unwrap();
    assert_eq!(
        stored(&route.hops[0]),
        [
            "ImagePolicy `v1alpha2`",
            "ImageRepository `v1alpha2`",
            "ImageUpdateAutomation `v1alpha2`"
        ]
    );
    let four = fresh(&version("v0.36.0"), FOUR, &Known::new(&CATALOG));
    assert!(find(&four, "v0.37.0").unwrap().hops[0].gate.is_empty());
}

#[test]
fn flux2_3622_from_0_38_to_0_40_is_one_step_and_back_is_refused_with_kind_and_version() {
    let known = Known::new(&CATALOG);
    let there = find(&fresh(&version("v0.38.3"), SIX, &known), "v0.40.2").unwrap();
    assert_eq!((stops(&there).len(), there.hops[0].gate.len()), (1, 0));
    let back = find(&fresh(&version("v0.40.2"), SIX, &known), "v0.38.3").unwrap_err();
    assert_eq!(
        back.to_string(),
        "v0.38.3 is older than the installed v0.40.2, and lacks versions that objects are stored in: ImagePolicy `v1beta2`, \
         ImageRepository `v1beta2`; the API server refuses such definitions"
    );
}

#[test]
fn flux2_2743_an_older_release_over_newer_definitions_is_refused_with_kind_and_version() {
    let start = fresh(&version("v0.31.5"), FOUR, &Known::new(&CATALOG));
    let refused = find(&start, "v0.27.4").unwrap_err();
    let finding = refused.finding();
    assert_eq!(
        (finding.code, finding.severity),
        (Code::DowngradeRefused, Severity::Blocking)
    );
    assert!(
        finding.message.contains("GitRepository `v1beta2`"),
        "{}",
        finding.message
    );
    // A definition that only the newer release has stays as it is, so it is not named.
    let newer = find(&fresh(&version("v2.9.4"), FOUR, &Known::new(&CATALOG)), "v2.6.4").unwrap_err();
    assert_eq!(newer.to_string(), "v2.6.4 is older than the installed v2.9.4");
    // A lower patch loses no version, and is refused all the same.
    let patch = find(&fresh(&version("v2.9.4"), FOUR, &Known::new(&CATALOG)), "v2.9.1").unwrap_err();
    assert_eq!(patch.to_string(), "v2.9.1 is older than the installed v2.9.4");
}

#[test]
fn flux2_5852_image_v1_is_not_of_2_6_but_of_2_7() {
    let known = Known::new(&CATALOG);
    let image = |release: &str| {
        known
            .versions("imagepolicies.image.toolkit.fluxcd.io", &version(release))
            .unwrap()
    };
    assert!(!image("v2.6.4").served.contains(&"v1".to_owned()) && image("v2.7.0").served.contains(&"v1".to_owned()));
    // From 2.1 the way to what has it leads over 2.6.
    let route = find(&fresh(&version("v2.1.2"), SIX, &known), "v2.7.5").unwrap();
    assert_eq!(stops(&route), ["v2.6.4", "v2.7.5"]);
    assert_eq!(
        route.hops[0].why,
        "v2.7.5 cannot follow at once: v2.7.0 no longer has HelmRelease `v2beta1`, ImageUpdateAutomation `v1beta1`, so the API \
         server would refuse the definitions; of the ways with the fewest steps this one goes farthest"
    );
}

#[test]
fn the_release_that_refuses_a_step_comes_after_one_that_has_the_version() {
    let known = Known::new(&CATALOG);
    let mut refusals = 0;
    for from in ["v0.23.0", "v0.31.0", "v0.41.2", "v2.0.0", "v2.2.3", "v2.6.4"] {
        let route = find(&fresh(&version(from), SIX, &known), "v2.9.4").unwrap();
        for hop in &route.hops {
            for refusal in &hop.refused_directly_by {
                refusals += 1;
                let has = |release: &Version| {
                    let versions = known.versions(&refusal.crd, release).unwrap();
                    versions.all.contains(&refusal.version)
                };
                assert!(refusal.release > hop.from, "{from}: {refusal:?}");
                assert!(has(&hop.from) && !has(&refusal.release), "{from}: {refusal:?}");
            }
        }
    }
    assert!(refusals > 0);
}

#[test]
fn a_kubernetes_that_is_too_old_blocks_and_one_that_is_not_known_is_told() {
    let start = fresh(&version("v2.2.3"), FOUR, &Known::new(&CATALOG));
    let old = find(&start.clone().on(Some(Version::new(1, 31, 4))), "v2.7.5").unwrap();
    let needed = Floor::TooOld {
        needed: Version::new(1, 32, 0),
        found: Version::new(1, 31, 4),
    };
    assert_eq!(old.hops[0].floor, needed);
    let blocking = &old.findings()[0];
    assert_eq!(
        (blocking.code, blocking.severity),
        (Code::KubernetesTooOld, Severity::Blocking)
    );
    assert_eq!(
        blocking.message,
        "it needs Kubernetes 1.32.0 or newer, and the cluster has 1.31.4"
    );
    let new = find(&start.clone().on(Some(Version::new(1, 32, 0))), "v2.7.5").unwrap();
    assert!(
        new.findings()
            .iter()
            .all(|finding| finding.code != Code::KubernetesTooOld),
        "{:?}",
        new.findings()
    );
    let unknown = find(&start, "v2.7.5").unwrap();
    let floor = unknown
        .findings()
        .into_iter()
        .find(|finding| finding.code == Code::KubernetesFloor)
        .unwrap();
    assert_eq!(
        floor.message,
        "it needs Kubernetes 1.32.0 or newer (v2.2.3 needed 1.26.0)"
    );
}

#[test]
fn without_a_version_the_newest_release_is_chosen_that_the_clusters_kubernetes_takes() {
    let known = Known::new(&CATALOG);
    let start = fresh(&version("v2.2.3"), SIX, &known).on(Some(Version::new(1, 31, 0)));
    let targets: Vec<Version> = ["v2.9.4", "v2.8.8", "v2.7.5", "v2.6.4"].map(version).to_vec();
    let chosen = route::choose(&start, &targets, &catalog_versions(), &known);
    assert_eq!(chosen.route.unwrap().to, version("v2.6.4"));
    assert_eq!(chosen.skipped.len(), 3);
    assert_eq!(
        chosen.skipped[0].1,
        "v2.8.8 needs Kubernetes 1.33.0 or newer, and the cluster has 1.31.0"
    );
}

#[test]
fn without_a_release_between_there_is_no_route_and_what_refuses_is_named() {
    let known = Known::new(&CATALOG);
    let start = fresh(&version("v2.2.3"), FOUR, &known);
    let available = ["v2.2.3", "v2.9.4"].map(version);
    let refused = route::find(&start, &version("v2.9.4"), &available, &known).unwrap_err();
    assert!(
        refused.to_string().starts_with(
            "no release that can be had leads from v2.2.3 to v2.9.4: v2.8.0 refuses Bucket, which is stored as `v1beta2`"
        ),
        "{refused}"
    );
    assert_eq!(refused.finding().code, Code::StoredVersionRemoved);
    let unknown = route::find(&start, &version("v9.0.0"), &available, &known).unwrap_err();
    assert_eq!(unknown, NoRoute::Unknown(version("v9.0.0")));
}

#[test]
fn what_is_stored_follows_from_the_first_release_or_from_all_that_is_served() {
    let known = Known::new(&CATALOG);
    let of = |stored: &Stored| {
        stored.versions["helmreleases.helm.toolkit.fluxcd.io"]
            .iter()
            .cloned()
            .collect::<Vec<_>>()
    };
    let concluded = |source: Source| Stored::concluded(&known, source, &version("v2.6.4"), &[]);
    assert_eq!(of(&concluded(Source::Since(version("v2.3.0")))), ["v2"]);
    assert_eq!(of(&concluded(Source::History(version("v2.2.0")))), ["v2", "v2beta2"]);
    assert_eq!(of(&concluded(Source::Assumed)), ["v2", "v2beta1", "v2beta2"]);
    // One that is newer than what is installed cannot be true.
    let wrong = concluded(Source::Since(version("v2.9.0")));
    assert_eq!(
        (of(&wrong), wrong.source),
        (of(&concluded(Source::Assumed)), Source::Assumed)
    );
}
