//! `refit render`: what the generator of a release writes with given options.
//!
//! In: platform, version and options. Out: the manifest on stdout. Leaves the rendering itself to `refit-core`.

use clap::{ArgAction, Args};
use refit_core::catalog::Catalog;
use refit_core::options::Options as Wanted;
use refit_core::release::Version;
use refit_core::render;
use refit_core::report::{Exit, Report, State};
use refit_engine::Target;
use refit_engine::ports::Content;
use refit_manifest::Stream;

use crate::args::Global;
use crate::failure::Failure;
use crate::output::Answer;
use crate::view::Rendered;
use crate::wiring;

/// Print what `flux install --export` of a version writes with the given options.
///
/// The contents come from the catalog; the options have the names and defaults of `flux install`.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  refit render flux@v2.6.4 > gotk-components.yaml
  refit render flux@v2.6.4 --namespace wego-system --network-policy=false
  refit render flux@v2.6.4 --components-extra image-reflector-controller,image-automation-controller
  refit render flux@v2.6.4 --registry registry.example.org/fluxcd --image-pull-secret pull")]
pub(crate) struct Options {
    /// The platform and the version.
    #[arg(value_name = "PLATFORM@VERSION")]
    target: Target,
    /// The namespace of the plane [default: flux-system].
    #[arg(long)]
    namespace: Option<String>,
    /// The components, parted by commas [default: the four that every plane has].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    components: Vec<String>,
    /// Components in addition, parted by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    components_extra: Vec<String>,
    /// Whether network policies are there.
    #[arg(long, value_name = "true|false", action = ArgAction::Set, default_value_t = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    network_policy: bool,
    /// The DNS domain of the cluster [default: cluster.local].
    #[arg(long, value_name = "DOMAIN")]
    cluster_domain: Option<String>,
    /// The keys of taints that the pods tolerate, parted by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    toleration_keys: Vec<String>,
    /// The registry, with its path, that images come from [default: ghcr.io/fluxcd].
    #[arg(long)]
    registry: Option<String>,
    /// The secret with which images are pulled.
    #[arg(long, value_name = "NAME")]
    image_pull_secret: Option<String>,
    /// The log level of the controllers [default: info].
    #[arg(long, value_name = "LEVEL", value_parser = ["debug", "info", "error"])]
    log_level: Option<String>,
    /// Whether the controllers watch all namespaces, not only their own.
    #[arg(long, value_name = "true|false", action = ArgAction::Set, default_value_t = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    watch_all_namespaces: bool,
}

/// Renders a release.
pub(crate) fn run(options: &Options, global: &Global) -> Result<Answer, Failure> {
    let platform = options.target.platform.as_deref().unwrap_or("flux");
    if platform != "flux" {
        return Err(
            Failure::usage(format!("`{platform}` cannot be rendered")).hint("the only platform so far is `flux`")
        );
    }
    let version = version(&options.target)?;
    let catalog =
        Catalog::flux().map_err(|error| Failure::new("the built-in catalog cannot be read").caused_by(&error))?;
    let wanted = wanted(options, &catalog)?;
    let releases = wiring::releases(&wiring::named(global), global)?;
    let contents = releases.contents(platform, &version.to_string())?;
    let streams = contents.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let rendered = render::render(&streams, &wanted, &catalog)
        .map_err(|error| Failure::new(format!("could not render {platform} {version}")).caused_by(&error))?;
    if !rendered.missing.is_empty() {
        return Err(Failure::new(format!(
            "{platform} {version} of {} lacks {}",
            releases.location(),
            rendered
                .missing
                .iter()
                .map(|name| format!("`{name}`"))
                .collect::<Vec<_>>()
                .join(", ")
        ))
        .hint("name a catalog that holds the release with all components with `--catalog DIR`")
        .ending(Exit::Blocked));
    }
    let body = Rendered {
        platform: platform.to_owned(),
        version: version.to_string(),
        manifest: String::from_utf8_lossy(&rendered.bytes).into_owned(),
    };
    let report = Report::new(State::Done, format!("rendered {platform} {version}"), Vec::new(), body);
    Answer::new(&report, rendered.bytes.to_vec())
}

fn version(target: &Target) -> Result<Version, Failure> {
    let Some(version) = &target.version else {
        return Err(Failure::usage("which version?")
            .hint("write it like `flux@v2.6.4`; `refit catalog list` shows what there is"));
    };
    Version::parse(version).map_err(|error| Failure::usage(error.to_string()))
}

fn wanted(options: &Options, catalog: &Catalog) -> Result<Wanted, Failure> {
    let defaults = Wanted::defaults(catalog);
    let mut components = if options.components.is_empty() {
        defaults.components
    } else {
        options.components.clone()
    };
    components.extend(options.components_extra.iter().cloned());
    if let Some(unknown) = components.iter().find(|name| catalog.component(name).is_none()) {
        let known: Vec<&str> = catalog
            .components()
            .iter()
            .map(|component| component.name.as_str())
            .collect();
        return Err(Failure::usage(format!("`{unknown}` is no component of Flux"))
            .hint(format!("there are {}", known.join(", "))));
    }
    Ok(Wanted {
        namespace: options.namespace.clone().unwrap_or(defaults.namespace),
        components,
        network_policies: options.network_policy,
        cluster_domain: options.cluster_domain.clone().unwrap_or(defaults.cluster_domain),
        toleration_keys: options.toleration_keys.clone(),
        registry: options.registry.clone().unwrap_or(defaults.registry),
        image_pull_secret: options.image_pull_secret.clone(),
        log_level: options.log_level.clone().unwrap_or(defaults.log_level),
        watch_all_namespaces: options.watch_all_namespaces,
    })
}

fn read(content: &Content) -> Result<Stream, Failure> {
    Stream::split(content.bytes.clone())
        .map_err(|error| Failure::new(format!("could not read {}", content.origin)).caused_by(&error))
}
