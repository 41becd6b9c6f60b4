#![forbid(unsafe_code)]
//! Recorded traces: formats in and out, streaming, on all cores.
//!
//! [`read`] reads one or several [`Input`]s (files, standard input; gzip, zstd or plain; JSON Lines, CSV or
//! the line format) and hands [`Block`]s of events to the caller, in order. What to extract is a [`Schema`],
//! made from the catalog of the properties. A line that cannot be read is skipped, a value
//! that is not of the type that a property demands is left out of its event, and either is counted as a
//! [`Problem`]; memory does not grow with the trace. [`Writer`] writes what [`read`] reads.
//!
//! The work on the way, from the bottom up: `input` opens and decompresses; `chunks` cuts the bytes into
//! whole lines; `source` finds out the format; `json`, `csv` and `line` scan lines into a `record`, whose
//! wanted fields are `convert`ed into values; `decoder` turns a chunk into a [`Block`]; `blocks`,
//! `pipeline` and `merge` deliver blocks from one input, from one input on several threads, and from several
//! inputs.

mod block;
mod blocks;
mod chunks;
mod convert;
mod csv;
mod decoder;
mod error;
mod fault;
mod format;
mod input;
mod json;
mod json_any;
mod line;
mod lines;
mod marks;
mod merge;
mod number;
mod options;
mod pipeline;
mod problems;
mod read;
mod record;
mod schema;
mod source;
mod spawn;
mod words;
mod writer;

pub use block::Block;
pub use blocks::Blocks;
pub use error::TraceError;
pub use format::Format;
pub use input::Input;
pub use options::Options;
pub use problems::{Place, Problem, Problems};
pub use read::{End, Summary, read};
pub use schema::Schema;
pub use writer::{Entry, Field, Writer};
