//! Drives plans through ports.
//!
//! In: a request of the user and the ports. Out: outcomes that the binary renders. Knows neither kube nor Git nor HTTP
//! nor terminals.

pub mod ports;
