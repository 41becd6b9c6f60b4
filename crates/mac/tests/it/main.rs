//! Transport of snapshots and events between the stages of MaC.

// Channels, and records that cannot be delivered.
mod channels;
// Helpers.
mod common;
// Line formats as people write them.
mod line_formats;
// The published byte formats.
mod published_formats;
// Every format: round trips, chunks, arbitrary bytes.
mod round_trips;
