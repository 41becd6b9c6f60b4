//! Decentralized monitoring.

// Helpers: random systems, formulae and traces, and the central monitor.
mod common;
// All algorithms and encodings against a central monitor.
mod differential;
// Memories, expressions and execution histories.
mod encoding;
// Memory use of long runs, and the influence of topology.
mod long_runs;
// The published running example, message sizes, complexity and placement.
mod published_results;
// Monitors and messages after a round trip through bytes.
mod saved_state;
// Helpers for specifications.
mod specification_common;
// Random specifications: semantics, flattened machine and formulae.
mod specification_differential;
// The published examples of specifications, monitorability and fit.
mod specification_examples;
// Splitting one formula over many components.
mod specification_split;
// Monitors that are fed one instant at a time.
mod streaming;
