//! Trace formats.

// Malformed input: an error or a counted line, never a panic.
mod bad_input;
// Helpers: a catalog, and reading into plain data.
mod common;
// The meaning of each format, record by record.
mod formats;
// Several traces merged by time.
mod merging;
// Round trips, with any chunk sizes and numbers of threads.
mod round_trips;
// Records without an event name.
mod state_records;
