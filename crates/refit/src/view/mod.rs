//! Values of the engine as text for people and as JSON.
//!
//! In: a value. Out: its text, its JSON. Knows neither streams nor options.

pub(crate) mod decisions;
