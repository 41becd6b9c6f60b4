//! Checks of recorded traces.

// Verdicts of one run on every path by which events reach a property.
mod verdict_matrix;
