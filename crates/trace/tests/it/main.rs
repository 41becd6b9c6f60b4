//! Trace formats.

// Malformed input: an error or a counted line, never a panic.
mod bad_input;
// Helpers: a catalog, and reading into plain data.
mod common;
// The meaning of each format, record by record.
mod formats;
// Several traces merged by time.
mod merging;
// What is written is read, for any chunks and threads.
mod round_trips;
// Records without an event.
mod state_records;
