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
            return Err(ClassFileError::Malformed { offset: 0, what: "it does not start with 0xCAFEBABE" });
        }
        reader.u2("the version")?;
        let major = reader.u2("the version")?;
        if major > NEWEST {
            return Err(ClassFileError::Newer { major });
        }
        let pool = Pool::read(bytes, &mut reader)?;
        let pool_end = reader.at();
        let what = "the names of the class and its supertypes";
        let (access, this_class, super_class) = (reader.u2(what)?, reader.u2(what)?, reader.u2(what)?);
        let count = reader.u2(what)?;
        let interfaces = (0..count).map(|_| reader.u2(what)).collect::<Result<_, _>>()?;
        let fields = members(&mut reader, "the fields")?;
        let methods_at = reader.at();
        let methods = members(&mut reader, "the methods")?;
        let attributes_at = reader.at();
        let attributes = attributes(&mut reader, "the attributes of the class")?;
        if !reader.is_at_end() {
            return Err(ClassFileError::Malformed {
                offset: reader.at(),
                what: "unexpected bytes after the class",
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

    /// The attribute of that name.
    pub(crate) fn attribute(&self, attributes: &[Attribute], name: &[u8]) -> Option<Attribute> {
        attributes.iter().copied().find(|attribute| self.pool.raw(attribute.name) == Some(name))
    }
}

fn members(reader: &mut Reader<'_>, what: &'static str) -> Result<Vec<Member>, ClassFileError> {
    let count = reader.u2(what)?;
    (0..count)
        .map(|_| {
            Ok(Member {
                start: reader.at(),
                access: reader.u2(what)?,
                name: reader.u2(what)?,
                descriptor: reader.u2(what)?,
                attributes: attributes(reader, what)?,
            })
        })
        .collect()
}

/// Parses a list of attributes, starting with their number.
pub(crate) fn attributes(
    reader: &mut Reader<'_>,
    what: &'static str,
) -> Result<Vec<Attribute>, ClassFileError> {
    let count = reader.u2(what)?;
    (0..count)
        .map(|_| {
            let name = reader.u2(what)?;
            let length = reader.u4(what)? as usize;
            let start = reader.at();
            reader.take(length, what)?;
            Ok(Attribute { name, start, end: reader.at() })
        })
        .collect()
}
