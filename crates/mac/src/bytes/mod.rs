//! The published formats: one byte for a number, values as Java's `DataOutputStream` writes them.

mod groups;
mod snapshots;
mod values;

pub(crate) use groups::{ByteGroupReader, ByteGroupWriter, MAGIC};
pub(crate) use snapshots::{ByteSnapshotReader, ByteSnapshotWriter};

/// Why bytes do not give what they should.
#[derive(Debug)]
pub(crate) enum Lack {
    /// There are too few yet.
    More,
    /// They cannot be that.
    Wrong(String),
}

/// What is wrong with a stream that ends in the middle of something.
pub(crate) const CUT_OFF: &str =
    "the stream ends in the middle; the sender was stopped, or the connection was lost";

/// Reads from bytes without consuming them: what is incomplete is read again when more has come.
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    pub(crate) at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { bytes, at: 0 }
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], Lack> {
        let taken = self.bytes.get(self.at..self.at + count).ok_or(Lack::More)?;
        self.at += count;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Lack> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Lack> {
        Ok(self.array::<1>()?[0])
    }
}
