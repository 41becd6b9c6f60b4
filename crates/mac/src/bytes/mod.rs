//! The published formats: one byte for a number, values as Java's `DataOutputStream` writes them.

mod groups;
mod snapshots;
mod values;

pub(crate) use groups::{ByteGroupReader, ByteGroupWriter, MAGIC};
pub(crate) use snapshots::{ByteSnapshotReader, ByteSnapshotWriter};

/// Why a value could not be read.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// More bytes are needed.
    Incomplete,
    /// The bytes are invalid.
    Invalid(String),
}

/// The error for a stream that ends within a value.
pub(crate) const CUT_OFF: &str =
    "the stream is truncated; the sender was stopped, or the connection was lost";

/// Reads bytes without consuming them: an incomplete value is read again when more bytes are available.
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    pub(crate) at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { bytes, at: 0 }
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], ReadError> {
        let taken = self.bytes.get(self.at..self.at + count).ok_or(ReadError::Incomplete)?;
        self.at += count;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], ReadError> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, ReadError> {
        Ok(self.array::<1>()?[0])
    }
}
