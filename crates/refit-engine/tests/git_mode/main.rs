//! The flows of Git mode over edges in memory.

mod bad_input;
mod cuts;
mod story;
mod world;
