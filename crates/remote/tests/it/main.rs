//! Semantics in other processes.

// Helpers.
mod common;
// The JavaScript server of `docs/remote.md`.
mod javascript_server;
// Servers that violate the protocol.
mod misbehaving_servers;
// The example language over the protocol.
mod soup;
// The conversations of `docs/remote.md`, word for word.
mod transcripts;
