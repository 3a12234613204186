//! Server-side apply of manifests.
//!
//! In: a YAML stream and how it is applied. Out: the objects as the server has them, or every refusal. What a
//! CustomResourceDefinition changes is in effect afterwards, so that the next request meets it.

use serde_json::Value;

use super::client::{Client, Object, Part, Refused};
use super::definitions;
use super::manifests::{self, Manifest};

/// How manifests are applied.
#[derive(Clone, Copy, Debug)]
pub struct Apply<'a> {
    manager: &'a str,
    namespace: &'a str,
    part: Part,
    dry_run: bool,
    forced: bool,
    strict: bool,
}

impl<'a> Apply<'a> {
    /// Applies as a field manager: stored, conflicts refused, unknown fields dropped.
    pub fn by(manager: &'a str) -> Self {
        Self {
            manager,
            namespace: "default",
            part: Part::Whole,
            dry_run: false,
            forced: false,
            strict: false,
        }
    }

    /// Stores nothing; all checks are made.
    pub fn dry_run(self) -> Self {
        Self { dry_run: true, ..self }
    }

    /// Takes fields from other managers.
    pub fn forced(self) -> Self {
        Self { forced: true, ..self }
    }

    /// Refuses double fields, and unknown ones where the server drops them else.
    ///
    /// Fields that a schema does not declare are refused by every server-side apply.
    pub fn strict(self) -> Self {
        Self { strict: true, ..self }
    }

    /// Names the namespace of objects that name none; else it is `default`.
    pub fn in_namespace(self, namespace: &'a str) -> Self {
        Self { namespace, ..self }
    }

    /// Applies the status alone.
    pub fn status(self) -> Self {
        Self {
            part: Part::Status,
            ..self
        }
    }

    fn query(&self) -> String {
        let dry_run = if self.dry_run { "&dryRun=All" } else { "" };
        let validation = if self.strict { "Strict" } else { "Ignore" };
        format!(
            "?fieldManager={}&force={}&fieldValidation={validation}{dry_run}",
            self.manager, self.forced
        )
    }
}

impl Client {
    /// Applies each object of a YAML stream, definitions and namespaces first, and gives them as the server has them.
    ///
    /// All are tried. Afterwards the definitions among them are in effect: established, and served as they say.
    ///
    /// # Errors
    /// Each refusal; a document that is no YAML is one, with status 0.
    pub fn apply(&self, stream: &[u8], how: &Apply<'_>) -> Result<Vec<Value>, Vec<Refused>> {
        let manifests = manifests::read(stream).map_err(|message| {
            vec![Refused {
                object: String::new(),
                status: 0,
                reason: "NoYaml".to_owned(),
                message,
            }]
        })?;
        let first = |manifest: &Manifest| ["CustomResourceDefinition", "Namespace"].contains(&&*manifest.kind);
        let (first, second): (Vec<_>, Vec<_>) = manifests.into_iter().partition(first);
        let (mut applied, mut refused) = (Vec::new(), Vec::new());
        for manifests in [first, second] {
            let from = applied.len();
            for manifest in &manifests {
                match self.apply_one(manifest, how) {
                    Ok(value) => applied.push(value),
                    Err(refusal) => refused.push(refusal),
                }
            }
            if !how.dry_run {
                definitions::settle(self, &applied[from..]);
            }
        }
        if refused.is_empty() { Ok(applied) } else { Err(refused) }
    }

    fn apply_one(&self, manifest: &Manifest, how: &Apply<'_>) -> Result<Value, Refused> {
        let namespace = match &*manifest.namespace {
            "" => how.namespace,
            own => own,
        };
        let object = Object {
            api_version: &manifest.api_version,
            kind: &manifest.kind,
            namespace,
            name: &manifest.name,
        };
        definitions::find(self, &object);
        let path = format!("{}{}{}", self.path(&object)?, how.part.path(), how.query());
        self.answer(
            "PATCH",
            &object,
            (&path, "application/apply-patch+yaml", &manifest.bytes),
        )
    }
}
