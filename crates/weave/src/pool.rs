//! Constant pool: parsing, and adding constants at its end.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::bytes::{Reader, Write, u2, u4};
use crate::error::ClassFileError;
use crate::helper;

const UTF8: u8 = 1;
const INTEGER: u8 = 3;
const FLOAT: u8 = 4;
const LONG: u8 = 5;
const DOUBLE: u8 = 6;
const CLASS: u8 = 7;
const STRING: u8 = 8;
const FIELD: u8 = 9;
const METHOD: u8 = 10;
const INTERFACE_METHOD: u8 = 11;
const NAME_AND_TYPE: u8 = 12;

/// Constant pool of a class file: the tag and the offset of each constant. The tag 0 marks an unused index.
#[derive(Debug)]
pub(crate) struct Pool<'a> {
    bytes: &'a [u8],
    entries: Vec<(u8, u32)>,
}

/// A field or method reference of an instruction.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MemberRef<'a> {
    pub(crate) owner: Cow<'a, str>,
    pub(crate) name: Cow<'a, str>,
    pub(crate) descriptor: Cow<'a, str>,
}

/// Value of a numeric or string constant.
pub(crate) enum Value<'a> {
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    Text(Cow<'a, str>),
}

impl<'a> Pool<'a> {
    /// Parses the pool, starting with the number of entries.
    pub(crate) fn read(bytes: &'a [u8], reader: &mut Reader<'a>) -> Result<Pool<'a>, ClassFileError> {
        const PART: &str = "the constant pool";
        let count = usize::from(reader.u2(PART)?);
        let mut entries = Vec::with_capacity(count);
        entries.push((0, 0));
        while entries.len() < count {
            let tag = reader.u1(PART)?;
            let at = reader.at();
            let length = match tag {
                UTF8 => usize::from(reader.u2(PART)?),
                INTEGER | FLOAT | FIELD | METHOD | INTERFACE_METHOD | NAME_AND_TYPE | 17 | 18 => 4,
                LONG | DOUBLE => 8,
                CLASS | STRING | 16 | 19 | 20 => 2,
                15 => 3,
                _ => {
                    return Err(ClassFileError::Malformed {
                        offset: at - 1,
                        message: "unknown type of constant",
                    });
                }
            };
            reader.take(length, PART)?;
            entries.push((tag, u32::try_from(at).unwrap_or(u32::MAX)));
            if tag == LONG || tag == DOUBLE {
                entries.push((0, 0));
            }
        }
        Ok(Pool { bytes, entries })
    }

    /// The number of entries, including the unused index 0.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    fn at(&self, index: u16, tag: u8) -> Option<usize> {
        match self.entries.get(usize::from(index)) {
            Some(&(found, at)) if found == tag => Some(at as usize),
            _ => None,
        }
    }

    /// The bytes of a UTF-8 constant.
    pub(crate) fn raw(&self, index: u16) -> Option<&'a [u8]> {
        let at = self.at(index, UTF8)?;
        self.bytes.get(at + 2..at + 2 + usize::from(u2(self.bytes, at)))
    }

    /// A UTF-8 constant.
    pub(crate) fn text(&self, index: u16) -> Option<Cow<'a, str>> {
        Some(decode(self.raw(index)?))
    }

    /// The name of a class.
    pub(crate) fn class(&self, index: u16) -> Option<Cow<'a, str>> {
        self.text(u2(self.bytes, self.at(index, CLASS)?))
    }

    /// A field reference.
    pub(crate) fn field(&self, index: u16) -> Option<MemberRef<'a>> {
        self.member(self.at(index, FIELD)?)
    }

    /// A method reference.
    pub(crate) fn method(&self, index: u16) -> Option<MemberRef<'a>> {
        self.member(self.at(index, METHOD).or_else(|| self.at(index, INTERFACE_METHOD))?)
    }

    fn member(&self, at: usize) -> Option<MemberRef<'a>> {
        let pair = self.at(u2(self.bytes, at + 2), NAME_AND_TYPE)?;
        Some(MemberRef {
            owner: self.class(u2(self.bytes, at))?,
            name: self.text(u2(self.bytes, pair))?,
            descriptor: self.text(u2(self.bytes, pair + 2))?,
        })
    }

    /// Whether a method reference names `<init>`. Faster than [`Pool::method`].
    pub(crate) fn is_constructor(&self, index: u16) -> bool {
        let name = self
            .at(index, METHOD)
            .and_then(|at| self.at(u2(self.bytes, at + 2), NAME_AND_TYPE))
            .and_then(|pair| self.raw(u2(self.bytes, pair)));
        name == Some(b"<init>")
    }

    /// A number or a string.
    pub(crate) fn value(&self, index: u16) -> Option<Value<'a>> {
        let &(tag, at) = self.entries.get(usize::from(index))?;
        let at = at as usize;
        let long = || u64::from(u4(self.bytes, at)) << 32 | u64::from(u4(self.bytes, at + 4));
        Some(match tag {
            INTEGER => Value::Int(u4(self.bytes, at).cast_signed()),
            FLOAT => Value::Float(f32::from_bits(u4(self.bytes, at))),
            LONG => Value::Long(long().cast_signed()),
            DOUBLE => Value::Double(f64::from_bits(long())),
            STRING => Value::Text(self.text(u2(self.bytes, at))?),
            _ => return None,
        })
    }
}

/// Decodes modified UTF-8, which differs from UTF-8 in NUL and in characters beyond the basic plane.
fn decode(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut units = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    loop {
        let (unit, length) = match *rest {
            [] => return Cow::Owned(String::from_utf16_lossy(&units)),
            [a, b, ..] if a & 0xe0 == 0xc0 => (u16::from(a & 0x1f) << 6 | u16::from(b & 0x3f), 2),
            [a, b, c, ..] if a & 0xf0 == 0xe0 => {
                (u16::from(a & 0xf) << 12 | u16::from(b & 0x3f) << 6 | u16::from(c & 0x3f), 3)
            }
            [a, ..] => (u16::from(a), 1),
        };
        units.push(unit);
        rest = &rest[length..];
    }
}

/// Error: the constant pool is full.
#[derive(Debug)]
pub(crate) struct PoolFullError;

/// Constants that are appended to those of a class. Existing constants keep their indices.
#[derive(Debug)]
pub(crate) struct Additions {
    next: usize,
    bytes: Vec<u8>,
    indexes: HashMap<Vec<u8>, u16>,
    /// The helper methods that are called, by name. There are few, and they are looked up often.
    probes: Vec<(String, u16)>,
}

impl Additions {
    /// Creates additions to a pool with `len` entries.
    pub(crate) fn new(len: usize) -> Additions {
        Additions { next: len, bytes: Vec::new(), indexes: HashMap::new(), probes: Vec::new() }
    }

    /// The number of entries of the pool with the additions.
    pub(crate) fn len(&self) -> usize {
        self.next
    }

    /// The encoded additions.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A state for [`Additions::rewind`].
    pub(crate) fn mark(&self) -> (usize, usize) {
        (self.next, self.bytes.len())
    }

    /// Removes the constants that were added after [`Additions::mark`].
    pub(crate) fn rewind(&mut self, (next, length): (usize, usize)) {
        self.next = next;
        self.bytes.truncate(length);
        self.indexes.retain(|_, index| usize::from(*index) < next);
        self.probes.retain(|(_, index)| usize::from(*index) < next);
    }

    /// The helper method for a probe; its name ends with the letters of its captures.
    pub(crate) fn probe(&mut self, helper: &str, name: &str) -> Result<u16, PoolFullError> {
        if let Some((_, index)) = self.probes.iter().find(|(other, _)| other == name) {
            return Ok(*index);
        }
        let index = self.method(helper, name, &helper::descriptor(&name[1..]))?;
        self.probes.push((name.to_owned(), index));
        Ok(index)
    }

    fn add(&mut self, constant: Vec<u8>) -> Result<u16, PoolFullError> {
        if let Some(&index) = self.indexes.get(&constant) {
            return Ok(index);
        }
        // The number of entries is a 16-bit number, so the largest index is one less.
        let index = u16::try_from(self.next).ok().filter(|&index| index < u16::MAX).ok_or(PoolFullError)?;
        self.bytes.extend_from_slice(&constant);
        self.indexes.insert(constant, index);
        self.next += 1;
        Ok(index)
    }

    pub(crate) fn text(&mut self, text: &str) -> Result<u16, PoolFullError> {
        let mut constant = vec![UTF8];
        constant.put2(u16::try_from(text.len()).map_err(|_| PoolFullError)?);
        constant.extend_from_slice(text.as_bytes());
        self.add(constant)
    }

    pub(crate) fn integer(&mut self, value: i32) -> Result<u16, PoolFullError> {
        let mut constant = vec![INTEGER];
        constant.put4(value.cast_unsigned());
        self.add(constant)
    }

    pub(crate) fn class(&mut self, name: &str) -> Result<u16, PoolFullError> {
        let name = self.text(name)?;
        self.pair(CLASS, name, None)
    }

    pub(crate) fn field(&mut self, owner: &str, name: &str, descriptor: &str) -> Result<u16, PoolFullError> {
        self.member(FIELD, owner, name, descriptor)
    }

    pub(crate) fn method(&mut self, owner: &str, name: &str, descriptor: &str) -> Result<u16, PoolFullError> {
        self.member(METHOD, owner, name, descriptor)
    }

    fn member(&mut self, tag: u8, owner: &str, name: &str, descriptor: &str) -> Result<u16, PoolFullError> {
        let owner = self.class(owner)?;
        let (name, descriptor) = (self.text(name)?, self.text(descriptor)?);
        let pair = self.pair(NAME_AND_TYPE, name, Some(descriptor))?;
        self.pair(tag, owner, Some(pair))
    }

    fn pair(&mut self, tag: u8, first: u16, second: Option<u16>) -> Result<u16, PoolFullError> {
        let mut constant = vec![tag];
        constant.put2(first);
        if let Some(second) = second {
            constant.put2(second);
        }
        self.add(constant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decode_handles_modified_utf8() {
        assert_eq!(decode(b"plain"), "plain");
        assert_eq!(decode("größe".as_bytes()), "größe");
        assert_eq!(decode(b"a\xc0\x80b"), "a\0b");
        assert_eq!(decode(b"\xed\xa0\xbd\xed\xb8\x80"), "😀");
        assert_eq!(decode(b"\xff"), "ÿ");
    }

    #[test]
    fn additions_are_shared_and_rewindable() {
        let mut additions = Additions::new(10);
        assert_eq!(additions.text("x").unwrap(), 10);
        let mark = additions.mark();
        assert_eq!(additions.class("x").unwrap(), 11);
        assert_eq!(additions.class("x").unwrap(), 11);
        additions.rewind(mark);
        assert_eq!(additions.integer(3).unwrap(), 11);
        assert_eq!(additions.text("x").unwrap(), 10);
        assert!(Additions::new(65535).text("x").is_err());
        assert!(Additions::new(65534).text("x").is_ok());
    }
}
