#![forbid(unsafe_code)]
//! Recorded traces: reading and writing of all formats, streaming, on all cores.
//!
//! [`read`] reads one or several [`Input`]s (files or standard input; gzip, zstd or plain; JSON Lines, CSV or plain
//! lines) and passes [`EventBlock`]s to the caller, in order. A [`Schema`], made from the event catalog of the
//! properties, defines which fields are extracted. A malformed line is skipped, and a value of the wrong type is
//! omitted from its event; both are counted as [`LineError`]s. Memory does not grow with the trace. [`TraceWriter`]
//! writes the formats that [`read`] reads.
//!
//! ```text
//! Input ─▶ chunks ─▶ open_trace ─▶ decoder ─▶ json | csv | plain_lines ─▶ record ─▶ convert ─▶ EventBlock ─▶ caller
//! bytes    whole     format        a chunk    scan a line                 fields    values     (block_reader,
//!          lines                                                                               pipeline, merge)
//! ```
//!
//! | module | contents |
//! | --- | --- |
//! | `read`, `options` | the entry point, its summary and its options |
//! | `input`, `chunks`, `open_trace` | opening and decompression; splitting into chunks of whole lines; format detection |
//! | `format` | the formats and their names |
//! | `json`, `json_general`, `csv`, `plain_lines` | scanners of the formats: they fill a `record` |
//! | `line_loop` | the loop over the lines of a chunk |
//! | `byte_index`, `number`, `name_table` | SIMD index of delimiters, numbers, hash table of names |
//! | `record`, `convert`, `schema` | the fields of a record, and their conversion to the parameters of events |
//! | `block`, `decoder` | a block of events, decoded from a chunk |
//! | `block_reader`, `pipeline`, `merge` | delivery: one input, one input on several threads, several inputs by time |
//! | `spawn` | creation of threads |
//! | `error`, `line_error_kind`, `line_errors` | errors of a trace, and errors of single lines |
//! | `writer` | writing traces |
//!
//! # Invariants
//!
//! - The events, their order and all counts are independent of the number of threads and of the chunk size.
//! - The fast scanners accept only lines that the general ones read identically.
//! - No input makes the reader panic.

mod block;
mod block_reader;
mod byte_index;
mod chunks;
mod convert;
mod csv;
mod decoder;
mod error;
mod format;
mod input;
mod json;
mod json_general;
mod line_error_kind;
mod line_errors;
mod line_loop;
mod merge;
mod name_table;
mod number;
mod open_trace;
mod options;
mod pipeline;
mod plain_lines;
mod read;
mod record;
mod schema;
mod spawn;
mod writer;

pub use block::EventBlock;
pub use block_reader::BlockReader;
pub use error::TraceError;
pub use format::Format;
pub use input::Input;
pub use line_errors::{LineError, LineErrors, TracePosition};
pub use options::ReadOptions;
pub use read::{ReadEnd, ReadSummary, read};
pub use schema::Schema;
pub use writer::{FieldValue, TraceEvent, TraceWriter};
