//! How many requests a route takes, and why not fewer.

use refit_core::catalog::Catalog;
use refit_core::route::Known;
use refit_testkit::planes::{self as made, Plane, Planes};

use crate::support::{apply, lines, object, planes, planned, planned_with_schemas, sync};

/// Makes one cluster with its sync, a Kustomization of `apps`, and files of that directory or beside the sync.
fn plane(route: (&str, &str), versions: [&str; 2], apps: &[(&'static str, &str, &str)]) -> Planes {
    let [source, kustomize] = versions;
    let plane = Plane::new("a", route.0, route.1);
    let url = "interval: 1m, url: 'https://git.example.org/platform'";
    let source = object(
        &format!("source.toolkit.fluxcd.io/{source}"),
        "GitRepository",
        "flux-system",
        url,
    );
    let mut files = vec![
        (
            "clusters/a/flux-system/gotk-sync.yaml",
            format!("{source}---\n{}", sync(kustomize, "a")),
        ),
        ("clusters/a/apps.yaml", apply(kustomize, "apps", "flux-system")),
    ];
    let app =
        |(path, api_version, kind): &(&'static str, &str, &str)| (*path, object(api_version, kind, "one", spec(kind)));
    files.extend(apps.iter().map(app));
    planes(&[plane], &[&files])
}

fn spec(kind: &str) -> &'static str {
    match kind {
        "HelmRelease" => "interval: 5m, chart: {spec: {chart: web, sourceRef: {kind: HelmRepository, name: one}}}",
        "HelmRepository" => "interval: 5m, url: 'https://charts.example.org'",
        "ImagePolicy" => "imageRepositoryRef: {name: one}, policy: {semver: {range: '>=1.0.0'}}",
        _ => "interval: 5m, sourceRef: {kind: GitRepository, name: one}, git: {commit: {author: {email: a@b.c}}}",
    }
}

fn check(route: (&str, &str), versions: [&str; 2], apps: &[(&'static str, &str, &str)], expected: &[&str]) {
    let planes = plane(route, versions, apps);
    assert_eq!(lines(&planes, &planned(&planes)), expected, "{route:?}");
}

const RELEASE: &str = "helm.toolkit.fluxcd.io";
const SOURCE: &str = "source.toolkit.fluxcd.io";
const IMAGE: &str = "image.toolkit.fluxcd.io";

#[test]
fn from_2_8_to_2_9_with_everything_converted_takes_one_request() {
    let release = format!("{RELEASE}/v2");
    check(
        ("v2.8.8", "v2.9.4"),
        ["v1", "v1"],
        &[("apps/r.yaml", &release, "HelmRelease")],
        &["upgrade a from v2.8.8 to v2.9.4 [] needs []"],
    );
}

#[test]
fn from_2_7_to_2_9_image_automation_is_converted_in_a_request_before() {
    // 2.9 does not serve v1beta2, 2.7 serves v1 already: the window is open now and closes with the hop. Live objects have
    // v1beta2 in their managed fields, so even in one Kustomization with the definitions it must be converted before.
    let image = format!("{IMAGE}/v1beta2");
    check(
        ("v2.7.5", "v2.9.4"),
        ["v1", "v1"],
        &[("apps/i.yaml", &image, "ImageUpdateAutomation")],
        &[
            "convert in platform [i.yaml] needs []",
            "upgrade a from v2.7.5 to v2.9.4 [] needs [0]",
        ],
    );
    check(
        ("v2.7.5", "v2.9.4"),
        ["v1", "v1"],
        &[("clusters/a/i.yaml", &image, "ImageUpdateAutomation")],
        &[
            "convert in platform [i.yaml] needs []",
            "upgrade a from v2.7.5 to v2.9.4 [] needs [0]",
        ],
    );
}

#[test]
fn from_2_6_to_2_8_one_request_converts_and_one_upgrades() {
    // 2.8 serves neither source v1beta2, Kustomization v1beta2 nor HelmRelease v2beta2; 2.6 serves what replaces them.
    let release = format!("{RELEASE}/v2beta2");
    check(
        ("v2.6.4", "v2.8.8"),
        ["v1beta2", "v1beta2"],
        &[("apps/r.yaml", &release, "HelmRelease")],
        &[
            "convert in platform [r.yaml apps.yaml gotk-sync.yaml] needs []",
            "upgrade a from v2.6.4 to v2.8.8 [] needs [0]",
        ],
    );
    check(
        ("v2.6.4", "v2.8.8"),
        ["v1", "v1"],
        &[],
        &["upgrade a from v2.6.4 to v2.8.8 [] needs []"],
    );
}

#[test]
fn from_2_2_to_2_9_each_of_the_three_hops_takes_a_request_and_two_convert() {
    // 2.2 -> 2.6: nothing goes that is written; HelmRelease v2 comes with 2.3, so apps cannot be converted before, while what
    // stands beside the definitions is converted with them. 2.6 -> 2.8: HelmRelease v2beta2 and HelmRepository v1beta2 go.
    // 2.8 -> 2.9: image v1beta2 goes, whose successor 2.7 brought.
    let (release, repository) = (format!("{RELEASE}/v2beta2"), format!("{SOURCE}/v1beta2"));
    let image = format!("{IMAGE}/v1beta2");
    check(
        ("v2.2.3", "v2.9.4"),
        ["v1beta2", "v1beta2"],
        &[
            ("apps/i.yaml", &image, "ImagePolicy"),
            ("apps/r.yaml", &release, "HelmRelease"),
            ("apps/s.yaml", &repository, "HelmRepository"),
        ],
        &[
            "upgrade a from v2.2.3 to v2.6.4 [apps.yaml gotk-sync.yaml] needs []",
            "convert in platform [r.yaml s.yaml] needs [0]",
            "upgrade a from v2.6.4 to v2.8.8 [] needs [1]",
            "convert in platform [i.yaml] needs [2]",
            "upgrade a from v2.8.8 to v2.9.4 [] needs [3]",
        ],
    );
}

#[test]
fn from_0_41_to_2_9_what_stands_beside_the_definitions_goes_with_the_hops_where_that_is_accepted() {
    // What a hop brings goes with it only where the schemas show that live objects can be applied in the new version without
    // a migration in between: ImageUpdateAutomation v1beta1 knows all that 2.6 may put into an object, and v1beta2 all of
    // 2.8; the others do not (HelmRelease v2beta1 has no `status.history`), so they wait until managed fields are migrated.
    let (release, image) = (format!("{RELEASE}/v2beta1"), format!("{IMAGE}/v1beta1"));
    let planes = plane(
        ("v0.41.2", "v2.9.4"),
        ["v1beta2", "v1beta2"],
        &[
            ("clusters/a/r.yaml", &release, "HelmRelease"),
            ("clusters/a/i.yaml", &image, "ImageUpdateAutomation"),
        ],
    );
    let Some(planned) = planned_with_schemas(&planes) else {
        return;
    };
    assert_eq!(
        lines(&planes, &planned),
        [
            "upgrade a from v0.41.2 to v2.6.4 [i.yaml] needs []",
            "convert in platform [apps.yaml gotk-sync.yaml r.yaml] needs [0]",
            "upgrade a from v2.6.4 to v2.8.8 [i.yaml] needs [1]",
            "upgrade a from v2.8.8 to v2.9.4 [] needs [2]",
        ]
    );
}

#[test]
fn from_0_41_to_2_9_applications_apart_take_one_conversion_before_each_later_hop() {
    // 0.41 serves nothing newer than HelmRelease v2beta1 and ImageUpdateAutomation v1beta1, so neither can be converted with
    // the first hop; 2.6 serves HelmRelease v2 and image v1beta2, and 2.8 serves neither of the old; 2.9 asks for image v1.
    let (release, image) = (format!("{RELEASE}/v2beta1"), format!("{IMAGE}/v1beta1"));
    check(
        ("v0.41.2", "v2.9.4"),
        ["v1beta2", "v1beta2"],
        &[
            ("apps/r.yaml", &release, "HelmRelease"),
            ("apps/i.yaml", &image, "ImageUpdateAutomation"),
        ],
        &[
            "upgrade a from v0.41.2 to v2.6.4 [] needs []",
            "convert in platform [i.yaml r.yaml apps.yaml gotk-sync.yaml] needs [0]",
            "upgrade a from v2.6.4 to v2.8.8 [] needs [1]",
            "convert in platform [i.yaml] needs [2]",
            "upgrade a from v2.8.8 to v2.9.4 [] needs [3]",
        ],
    );
}

#[test]
fn of_several_routes_the_one_with_the_fewest_requests_is_taken() {
    let release = format!("{RELEASE}/v2beta1");
    let planes = plane(
        ("v2.2.3", "v2.9.4"),
        ["v1", "v1"],
        &[("apps/r.yaml", &release, "HelmRelease")],
    );
    let (usual, fewest) = made::fewest(&planes, &Catalog::flux().unwrap());
    assert_eq!(
        lines(&planes, &usual),
        [
            "upgrade a from v2.2.3 to v2.6.4 [r.yaml] needs []",
            "convert in platform [r.yaml] needs [0]",
            "upgrade a from v2.6.4 to v2.8.8 [] needs [1]",
            "upgrade a from v2.8.8 to v2.9.4 [] needs [2]",
        ]
    );
    // 2.6 and 2.7 serve v2beta2 and v2: what goes with one hop needs no request before the next.
    assert_eq!(fewest.requests.len(), 3);
    assert!(lines(&planes, &fewest).iter().all(|line| line.starts_with("upgrade ")));
}

const STARTS: [&str; 3] = ["v2.2.3", "v2.6.4", "v2.7.5"];

/// What takes fewer requests than by the route that goes farthest.
const FEWER: [&str; 16] = [
    "v2.2.3 OCIRepository v1beta2: 3 not 4",
    "v2.2.3 HelmRepository v1beta1: 3 not 4",
    "v2.2.3 HelmRepository v1beta2: 3 not 4",
    "v2.2.3 HelmChart v1beta1: 3 not 4",
    "v2.2.3 HelmChart v1beta2: 3 not 4",
    "v2.2.3 Bucket v1beta1: 3 not 4",
    "v2.2.3 Bucket v1beta2: 3 not 4",
    "v2.2.3 HelmRelease v2beta1: 3 not 4",
    "v2.2.3 HelmRelease v2beta2: 3 not 4",
    "v2.6.4 GitRepository v1beta2: 2 not 3",
    "v2.6.4 OCIRepository v1beta2: 2 not 3",
    "v2.6.4 HelmRepository v1beta2: 2 not 3",
    "v2.6.4 HelmChart v1beta2: 2 not 3",
    "v2.6.4 Bucket v1beta2: 2 not 3",
    "v2.6.4 Kustomization v1beta2: 2 not 3",
    "v2.6.4 HelmRelease v2beta2: 2 not 3",
];
#[test]
fn no_start_takes_more_requests_than_by_the_usual_route_and_these_take_fewer() {
    let catalog = Catalog::flux().unwrap();
    let known = Known::new(&catalog);
    let mut fewer = Vec::new();
    for start in STARTS {
        let at = start.parse().unwrap();
        let storage = |crd: &str| known.versions(crd, &at).unwrap().storage;
        let source = storage("gitrepositories.source.toolkit.fluxcd.io");
        let kustomize = storage("kustomizations.kustomize.toolkit.fluxcd.io");
        for resource in catalog.resources() {
            let versions = known.versions(&resource.crd, &at);
            for version in versions.into_iter().flat_map(|versions| versions.served) {
                let api_version = format!("{}/{version}", resource.group());
                let apps = [("apps/r.yaml", &*api_version, &*resource.kind)];
                let planes = plane((start, "v2.9.4"), [&source, &kustomize], &apps);
                let (usual, fewest) = made::fewest(&planes, &catalog);
                let (before, now) = (usual.requests.len(), fewest.requests.len());
                assert!(fewest.unfinished.is_empty() || !usual.unfinished.is_empty());
                if before != now {
                    fewer.push(format!("{start} {} {version}: {now} not {before}", resource.kind));
                }
            }
        }
    }
    assert_eq!(fewer, FEWER);
}
