//! Inputs: files, standard input and readers, with decompression.

use crate::error::TraceError;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

/// A trace to read.
///
/// ```
/// use invigil_trace::Input;
/// let input = Input::reader("example", std::io::Cursor::new("push(queue=1)\n"));
/// assert_eq!(input.name(), "example");
/// ```
pub struct Input {
    name: String,
    origin: Origin,
}

enum Origin {
    File(PathBuf),
    Stdin,
    Reader(Box<dyn Read + Send>),
}

impl Input {
    /// A file. It is opened when reading starts.
    pub fn file(path: impl AsRef<Path>) -> Input {
        let path = path.as_ref();
        Input { name: path.display().to_string(), origin: Origin::File(path.to_owned()) }
    }

    /// Standard input.
    pub fn stdin() -> Input {
        Input { name: "standard input".to_owned(), origin: Origin::Stdin }
    }

    /// A reader, with a name for messages.
    pub fn reader(name: impl Into<String>, reader: impl Read + Send + 'static) -> Input {
        Input { name: name.into(), origin: Origin::Reader(Box::new(reader)) }
    }

    /// The input for a command-line argument: a path, or `-` for standard input.
    pub fn named(argument: impl AsRef<Path>) -> Input {
        if argument.as_ref() == Path::new("-") { Input::stdin() } else { Input::file(argument) }
    }

    /// The name that messages use.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Opens the input and sets up decompression.
    pub(crate) fn open(self) -> Result<OpenInput, TraceError> {
        let name = self.name;
        let mut raw: Box<dyn Read + Send> = match self.origin {
            Origin::File(path) => match File::open(path) {
                Ok(file) => Box::new(file),
                Err(source) => return Err(TraceError::Open { name, source }),
            },
            Origin::Stdin => Box::new(io::stdin()),
            Origin::Reader(reader) => reader,
        };
        let read_error = |name, source| TraceError::Read { name, line: 1, compression: None, source };
        let start = match first_bytes(&mut raw) {
            Ok(start) => start,
            Err(source) => return Err(read_error(name, source)),
        };
        for (magic, format, remedy) in UNSUPPORTED {
            if start.starts_with(magic) {
                return Err(TraceError::Unsupported { name, format, remedy });
            }
        }
        let whole = Cursor::new(start.clone()).chain(raw);
        if start.starts_with(&[0x1f, 0x8b]) {
            let compressed = BufReader::with_capacity(COMPRESSED_BUFFER, whole);
            let reader = Box::new(flate2::bufread::MultiGzDecoder::new(compressed));
            return Ok(OpenInput { name, reader, compression: Some("gzip") });
        }
        if start.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            let compressed = BufReader::with_capacity(COMPRESSED_BUFFER, whole);
            return match zstd::stream::read::Decoder::with_buffer(compressed) {
                Ok(decoder) => Ok(OpenInput { name, reader: Box::new(decoder), compression: Some("zstd") }),
                Err(source) => Err(read_error(name, source)),
            };
        }
        Ok(OpenInput { name, reader: Box::new(whole), compression: None })
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").field("name", &self.name).finish_non_exhaustive()
    }
}

/// An open, decompressed input.
pub(crate) struct OpenInput {
    pub(crate) name: String,
    pub(crate) reader: Box<dyn Read + Send>,
    /// How the input is compressed, if it is.
    pub(crate) compression: Option<&'static str>,
}

/// Buffer size for compressed data.
const COMPRESSED_BUFFER: usize = 64 << 10;

/// Unsupported formats: first bytes, name and remedy.
const UNSUPPORTED: [(&[u8], &str, &str); 6] = [
    (b"\xff\xfe", "UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8 FILE | invigil check -p PROPERTY -"),
    (b"\xfe\xff", "UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8 FILE | invigil check -p PROPERTY -"),
    (b"\xfd7zXZ", "an xz archive", "decompress it: xz -dc FILE | invigil check -p PROPERTY -"),
    (b"BZh", "a bzip2 archive", "decompress it: bzip2 -dc FILE | invigil check -p PROPERTY -"),
    (b"PK\x03\x04", "a zip archive", "decompress it: unzip -p FILE | invigil check -p PROPERTY -"),
    (b"\x7fELF", "an executable, not a trace", "record its events with `invigil record`"),
];

/// Reads the first bytes: fewer than six only at the end of the input.
fn first_bytes(input: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut start = vec![0; 6];
    let mut filled = 0;
    while filled < start.len() {
        match input.read(&mut start[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    start.truncate(filled);
    Ok(start)
}
