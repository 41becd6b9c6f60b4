//! Our formats: lines that people read and any program can write, without limits.

mod groups;
mod literal;
mod snapshots;

pub(crate) use groups::{TextGroupReader, TextGroupWriter};
pub(crate) use literal::{of_type, plain};
pub(crate) use snapshots::{TextSnapshotReader, TextSnapshotWriter};
