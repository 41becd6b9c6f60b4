//! DVE.

// State counts of the BEEM models.
mod beem_sizes;
// Verdicts on the properties of the BEEM models.
mod beem_verdicts;
// Helpers.
mod common;
// Large, deep and random texts.
mod hostile_input;
// The meaning of each construct.
mod language;
