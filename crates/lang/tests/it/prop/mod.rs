//! Properties.

// Helpers.
pub(crate) mod common;
// Every fast path of embedded monitors against plain stepping.
mod embedded_monitors;
// Engines that step outside of the host of embedded monitors.
mod external_engine;
// `explain` on the published properties and on every construct.
mod explain;
// The formatter.
mod format;
// Which texts are properties.
mod grammar;
// Large, deep and random texts.
mod hostile_input;
// The monitor interface: inspection, changes, callbacks.
mod interactive_monitor;
// Very large properties: refused with an error, or loaded in time.
mod large;
// Syntax trees of the published properties.
mod published_syntax;
// Verdicts of the published properties.
mod published_verdicts;
// Monitor states as bytes.
mod saved_state;
// Collecting the slices of dead objects preserves verdicts.
mod slice_collection;
// Slicing against a reference that follows the published definition.
mod slicing;
