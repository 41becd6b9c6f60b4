//! Structure of a class file: the offset of each part.

use crate::bytes::Reader;
use crate::error::{ClassFileError, NEWEST};
use crate::pool::Pool;

/// A class file, split into its parts.
#[derive(Debug)]
pub(crate) struct ClassFileParts<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) major: u16,
    pub(crate) pool: Pool<'a>,
    /// End of the constant pool.
    pub(crate) pool_end: usize,
    pub(crate) access: u16,
    /// Index of the class in the constant pool.
    pub(crate) this_class: u16,
    /// Index of the superclass in the constant pool; 0 if there is none.
    pub(crate) super_class: u16,
    pub(crate) interfaces: Vec<u16>,
    pub(crate) fields: Vec<Member>,
    /// Offset of the number of methods.
    pub(crate) methods_at: usize,
    pub(crate) methods: Vec<Member>,
    /// Offset of the number of class attributes.
    pub(crate) attributes_at: usize,
    pub(crate) attributes: Vec<Attribute>,
}

/// A field or a method.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) start: usize,
    pub(crate) access: u16,
    pub(crate) name: u16,
    pub(crate) descriptor: u16,
    pub(crate) attributes: Vec<Attribute>,
}

/// An attribute: its name and the range of its content.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attribute {
    pub(crate) name: u16,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl<'a> ClassFileParts<'a> {
    pub(crate) fn read(bytes: &'a [u8]) -> Result<ClassFileParts<'a>, ClassFileError> {
        let mut reader = Reader::new(bytes);
        if reader.u4("the header")? != 0xcafe_babe {
            return Err(ClassFileError::Malformed {
                offset: 0,
                message: "it does not start with 0xCAFEBABE",
            });
        }
        reader.u2("the version")?;
        let major = reader.u2("the version")?;
        if major > NEWEST {
            return Err(ClassFileError::Newer { major });
        }
        let pool = Pool::read(bytes, &mut reader)?;
        let pool_end = reader.at();
        let part = "the names of the class and its supertypes";
        let (access, this_class, super_class) = (reader.u2(part)?, reader.u2(part)?, reader.u2(part)?);
        let count = reader.u2(part)?;
        let interfaces = (0..count).map(|_| reader.u2(part)).collect::<Result<_, _>>()?;
        let fields = members(&mut reader, "the fields")?;
        let methods_at = reader.at();
        let methods = members(&mut reader, "the methods")?;
        let attributes_at = reader.at();
        let attributes = attributes(&mut reader, "the attributes of the class")?;
        if !reader.is_at_end() {
            return Err(ClassFileError::Malformed {
                offset: reader.at(),
                message: "unexpected bytes after the class",
            });
        }
        Ok(ClassFileParts {
            bytes,
            major,
            pool,
            pool_end,
            access,
            this_class,
            super_class,
            interfaces,
            fields,
            methods_at,
            methods,
            attributes_at,
            attributes,
        })
    }

    /// The attribute with this name.
    pub(crate) fn attribute(&self, attributes: &[Attribute], name: &[u8]) -> Option<Attribute> {
        attributes.iter().copied().find(|attribute| self.pool.raw(attribute.name) == Some(name))
    }
}

fn members(reader: &mut Reader<'_>, part: &'static str) -> Result<Vec<Member>, ClassFileError> {
    let count = reader.u2(part)?;
    (0..count)
        .map(|_| {
            Ok(Member {
                start: reader.at(),
                access: reader.u2(part)?,
                name: reader.u2(part)?,
                descriptor: reader.u2(part)?,
                attributes: attributes(reader, part)?,
            })
        })
        .collect()
}

/// Parses a list of attributes, starting with their number.
pub(crate) fn attributes(
    reader: &mut Reader<'_>,
    part: &'static str,
) -> Result<Vec<Attribute>, ClassFileError> {
    let count = reader.u2(part)?;
    (0..count)
        .map(|_| {
            let name = reader.u2(part)?;
            let length = reader.u4(part)? as usize;
            let start = reader.at();
            reader.take(length, part)?;
            Ok(Attribute { name, start, end: reader.at() })
        })
        .collect()
}
