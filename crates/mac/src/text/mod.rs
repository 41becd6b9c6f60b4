//! The text formats of MaC: human-readable, easy to write from any program, without size limits.

mod groups;
mod literal;
mod snapshots;

pub(crate) use groups::{TextGroupReader, TextGroupWriter};
pub(crate) use literal::{parse_as, write_value};
pub(crate) use snapshots::{TextSnapshotReader, TextSnapshotWriter};
