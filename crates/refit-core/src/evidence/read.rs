//! The text of a file of cluster objects.
//!
//! In: bytes. Out: one value per document, without the schemas of definitions, which are nine tenths of it.

use std::fmt;
use std::sync::Arc;

use refit_manifest::{Stream, parse, stream};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::value;

/// The most bytes that a file may have.
pub const SIZE_LIMIT: usize = 256 << 20;

/// What is not kept of objects: nothing is decided by it, and it is large.
const LEFT_OUT: [&str; 3] = [
    "openAPIV3Schema",
    "kubectl.kubernetes.io/last-applied-configuration",
    "fieldsV1",
];

/// Why a file is no evidence.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It has nothing in it.
    #[error("the snapshot is empty; hint: `kubectl` may have failed, run it again and look at what it says")]
    Empty,
    /// It is far larger than the definitions of a cluster are.
    #[error(
        "the snapshot has {} MiB, more than the {} MiB that are read; hint: take only `crds,deployments` into it",
        size >> 20,
        SIZE_LIMIT >> 20
    )]
    Size {
        /// Its size.
        size: usize,
    },
    /// It ends in the middle of a document.
    #[error("the snapshot is cut off at line {line}; hint: write it again, and keep the whole output of `kubectl`")]
    Truncated {
        /// The last line.
        line: usize,
    },
    /// It is no JSON although it begins like it.
    #[error(
        "the snapshot is not JSON at line {line}; hint: write it again with `kubectl get crds,deployments -A -o json`"
    )]
    Json {
        /// The line.
        line: usize,
        /// What the parser says.
        source: serde_json::Error,
    },
    /// It is no text of YAML documents.
    #[error("the snapshot is no text; hint: write it again with `kubectl get crds,deployments -A -o json`")]
    Text(#[source] stream::Error),
    /// It is no YAML.
    #[error(
        "the snapshot is neither JSON nor YAML; hint: write it again with `kubectl get crds,deployments -A -o json`"
    )]
    Yaml(#[source] parse::Error),
    /// A YAML document expands without end.
    #[error(
        "the snapshot is too large as YAML; hint: write it as JSON, with `kubectl get crds,deployments -A -o json`"
    )]
    Extent,
    /// What it holds are no objects: a table, a log, a manifest's fragment.
    #[error(
        "the snapshot holds no Kubernetes objects but begins with `{begins}`; hint: add `-o json`: `kubectl get \
         crds,deployments -A -o json`"
    )]
    NoObjects {
        /// Its first words.
        begins: String,
    },
    /// No definition is in it.
    #[error(
        "the snapshot holds {} and no CustomResourceDefinition; hint: write it with `kubectl get \
         crds,deployments -A -o json`, as somebody who may list CRDs",
        counted(*objects)
    )]
    NoDefinitions {
        /// How many objects it holds.
        objects: usize,
    },
    /// A definition has no status, so it is from a manifest.
    #[error(
        "the snapshot was not read from a cluster: `{name}` has no `status.storedVersions`; hint: write it with \
         `kubectl get crds,deployments -A -o json`"
    )]
    NotFromCluster {
        /// The CRD.
        name: String,
    },
    /// One definition is there twice, and differently.
    #[error(
        "the snapshot holds `{name}` twice, and differently: of two clusters, or of two moments; hint: write one file \
         per cluster, and write it anew instead of appending"
    )]
    Twice {
        /// The CRD.
        name: String,
    },
}

fn counted(objects: usize) -> String {
    match objects {
        0 => "no objects".to_owned(),
        1 => "1 object".to_owned(),
        _ => format!("{objects} objects"),
    }
}

/// Reads the documents of a file.
pub(super) fn documents(bytes: &Arc<[u8]>) -> Result<Vec<Value>, Error> {
    if bytes.len() > SIZE_LIMIT {
        return Err(Error::Size { size: bytes.len() });
    }
    let content = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    match content.first() {
        None => Err(Error::Empty),
        Some(b'{' | b'[') => json(content),
        Some(_) => yaml(bytes),
    }
}

fn json(content: &[u8]) -> Result<Vec<Value>, Error> {
    let mut documents = Vec::new();
    for document in serde_json::Deserializer::from_slice(content).into_iter::<Slim>() {
        match document {
            Ok(Slim(Value::Array(items))) => documents.extend(items),
            Ok(Slim(document)) => documents.push(document),
            Err(error) if error.is_eof() => return Err(Error::Truncated { line: error.line() }),
            Err(source) => {
                let line = source.line();
                return Err(Error::Json { line, source });
            }
        }
    }
    Ok(documents)
}

fn yaml(bytes: &Arc<[u8]>) -> Result<Vec<Value>, Error> {
    let stream = Stream::split(Arc::clone(bytes)).map_err(Error::Text)?;
    let mut documents = Vec::new();
    for document in stream.documents() {
        if let Err(error) = document.parsed() {
            return Err(Error::Yaml(error.clone()));
        }
        let Some(root) = document.root() else { continue };
        // `kubectl` writes the kind of a list after its items.
        if root.get("items").is_some() && root.get("kind").is_none() {
            let line = document.line_of(document.span().end);
            return Err(Error::Truncated { line });
        }
        documents.push(value::of(root).ok_or(Error::Extent)?);
    }
    Ok(documents)
}

/// A value without what is left out.
struct Slim(Value);

impl<'de> Deserialize<'de> for Slim {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Visit).map(Self)
    }
}

struct Visit;

impl<'de> Visitor<'de> for Visit {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::from(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::from(number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::from(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Slim(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if LEFT_OUT.contains(&key.as_str()) {
                entries.next_value::<IgnoredAny>()?;
            } else {
                map.insert(key, entries.next_value::<Slim>()?.0);
            }
        }
        Ok(Value::Object(map))
    }
}
