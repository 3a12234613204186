//! What people really do to generated Flux files, row by row of the page on real repositories (sections 6 and 7).
//!
//! Each test is one row: a repository of real data with the row's customisation, the commands, and what must hold. A row
//! without real data beside the repository is skipped with a line; its core stands as a small test at the layer named.
//!
//! Rows about patches (14, 15, 20 to 26, and what 27 and 30 say of overlays) are shown where patches are verified; row
//! 30's releases of k0rdent belong to issue 11; conversions of custom resources belong to issue 5.

#![expect(clippy::panic, reason = "a test says with a panic what is wrong")]

mod formatting;
mod issues;
mod options;
mod places;
mod versions;
mod world;
