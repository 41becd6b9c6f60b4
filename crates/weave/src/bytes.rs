//! Big-endian numbers: reading and writing.

use crate::error::ClassFileError;

/// Cursor in a class file.
#[derive(Debug, Clone)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0, end: bytes.len() }
    }

    /// Restricts reading to a part of the file. Offsets still count from the start of the file.
    pub(crate) fn part(bytes: &'a [u8], start: usize, end: usize) -> Reader<'a> {
        let end = end.min(bytes.len());
        Reader { bytes, at: start.min(end), end }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.at == self.end
    }

    pub(crate) fn take(&mut self, length: usize, part: &'static str) -> Result<&'a [u8], ClassFileError> {
        if self.end - self.at < length {
            return Err(ClassFileError::Truncated { offset: self.at, part });
        }
        let taken = &self.bytes[self.at..self.at + length];
        self.at += length;
        Ok(taken)
    }

    pub(crate) fn u1(&mut self, part: &'static str) -> Result<u8, ClassFileError> {
        Ok(self.take(1, part)?[0])
    }

    pub(crate) fn u2(&mut self, part: &'static str) -> Result<u16, ClassFileError> {
        let b = self.take(2, part)?;
        Ok(u16::from_be_bytes([b[0], b[1]]))
    }

    pub(crate) fn u4(&mut self, part: &'static str) -> Result<u32, ClassFileError> {
        let b = self.take(4, part)?;
        Ok(u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
    }
}

pub(crate) fn u2(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).map_or(0, |b| u16::from_be_bytes([b[0], b[1]]))
}

pub(crate) fn u4(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
}

/// Appends numbers.
pub(crate) trait Write {
    fn put1(&mut self, value: u8);
    fn put2(&mut self, value: u16);
    fn put4(&mut self, value: u32);
}

impl Write for Vec<u8> {
    fn put1(&mut self, value: u8) {
        self.push(value);
    }

    fn put2(&mut self, value: u16) {
        self.extend_from_slice(&value.to_be_bytes());
    }

    fn put4(&mut self, value: u32) {
        self.extend_from_slice(&value.to_be_bytes());
    }
}
