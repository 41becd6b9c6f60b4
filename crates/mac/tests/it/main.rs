//! Transport of snapshots and events between the stages of MaC.

// Channels, and records that cannot be delivered.
mod channels;
// Helpers.
mod common;
// Hand-written input in the text formats.
mod line_formats;
// The published byte formats.
mod published_formats;
// Every format: round trips, chunks, arbitrary bytes.
mod round_trips;
