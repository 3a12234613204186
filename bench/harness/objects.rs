//! Files as they stand in repositories of planes, which the cases about whole repositories share.
//!
//! What kinds of files there are, and how large they are, is that of the repositories in `../shared/corpus`: seven in ten
//! have less than 1 kB, one in twenty has 4 to 32 kB, one in fifty more; a third holds objects of Flux.

use std::fmt::Write as _;

/// Every how many-th file holds objects of Flux, of these has many values, is a dashboard, is a large one.
const FLUX: usize = 3;
const VALUES: usize = 4;
const DASHBOARDS: usize = 20;
const LARGE: usize = 50;

/// In which API versions objects of Flux are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Versions {
    /// Half of the files in versions that newer releases do not serve.
    HalfOld,
    /// All in those of today.
    New,
}

/// Gives a Flux Kustomization.
pub(crate) fn sync(name: &str, path: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: {name}\n  namespace: flux-system\n\
         spec:\n  interval: 10m\n  path: ./{path}\n  prune: true\n  sourceRef:\n    kind: GitRepository\n    name: flux-system\n"
    )
}

/// Gives one of the files of a folder of applications.
pub(crate) fn application(number: usize, versions: Versions) -> String {
    if number.is_multiple_of(FLUX) {
        return release(number, versions);
    }
    if number.is_multiple_of(LARGE) {
        return dashboard(number, 1_200);
    }
    if number.is_multiple_of(DASHBOARDS) {
        return dashboard(number, 300);
    }
    workload(number)
}

/// Gives a release of a chart and its source.
fn release(number: usize, versions: Versions) -> String {
    let is_old = versions == Versions::HalfOld && !number.is_multiple_of(2);
    let (helm, source) = if is_old { ("v2beta1", "v1beta2") } else { ("v2", "v1") };
    let mut values = String::new();
    if number.is_multiple_of(VALUES) {
        for value in 0..40 {
            let _ = write!(
                values,
                "\n    component-{value}: # kept small on purpose\n      enabled: true\n      level: info"
            );
        }
    }
    format!(
        "# what team runs\napiVersion: helm.toolkit.fluxcd.io/{helm}\nkind: HelmRelease\nmetadata:\n  name: app-{number}\n  \
         namespace: apps\nspec:\n  interval: 10m\n  chart:\n    spec:\n      chart: app\n      version: 1.2.{number}\n      \
         sourceRef:\n        kind: HelmRepository\n        name: charts\n  values:\n    replicas: 2\n    image:\n      \
         repository: registry.example/app\n      tag: v1.0.{number}\n    env:\n    - name: LEVEL\n      value: info{values}\n---\n\
         apiVersion: source.toolkit.fluxcd.io/{source}\nkind: HelmRepository\nmetadata:\n  name: charts-{number}\n  \
         namespace: apps\nspec:\n  interval: 1h\n  url: https://charts.example\n"
    )
}

fn workload(number: usize) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app-{number}\n  namespace: apps\nspec:\n  replicas: 1\n  \
         selector:\n    matchLabels:\n      app: app-{number}\n  template:\n    metadata:\n      labels:\n        app: app-{number}\n    \
         spec:\n      containers:\n      - name: main\n        image: registry.example/app:v1.0.{number}\n        env:\n        \
         - name: LEVEL\n          value: info\n---\napiVersion: v1\nkind: Service\nmetadata:\n  name: app-{number}\n  namespace: apps\n\
         spec:\n  ports:\n  - port: 80\n  selector:\n    app: app-{number}\n"
    )
}

/// Gives a ConfigMap with a dashboard in JSON, about 50 bytes a panel.
fn dashboard(number: usize, panels: usize) -> String {
    let mut text = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: dashboard-{number}\n  namespace: apps\ndata:\n  dashboard.json: |\n    {{\n"
    );
    for panel in 0..panels {
        let _ = writeln!(
            text,
            "      \"panel-{panel}\": {{\"version\": {panel}, \"type\": \"graph\"}},"
        );
    }
    text.push_str("      \"title\": \"app\"\n    }\n");
    text
}
