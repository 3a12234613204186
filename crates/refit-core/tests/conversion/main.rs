//! Uses of old API versions and their conversion, file by file.

mod findings;
mod places;
mod shapes;
mod support;
mod versions;
