//! Requests in order.
#![allow(dead_code)]
mod order;
