//! Names that a class file declares.

use crate::bytes::Reader;
use crate::error::ClassFileError;
use crate::pool::Value;
use crate::raw::{self, Attribute, ClassFileParts, Member};

/// Declarations of a class: the names that users refer to.
#[derive(Debug, Clone, PartialEq)]
pub struct Class {
    /// The major version of the file: 61 is Java 17.
    pub major: u16,
    /// The access flags, as in `java.lang.reflect.Modifier`.
    pub access: u16,
    /// The name, as in `java/util/List`.
    pub name: String,
    /// The superclass: `None` for `java/lang/Object` and for modules.
    pub parent: Option<String>,
    /// The interfaces that it implements directly.
    pub interfaces: Vec<String>,
    /// The name of the source file, without its directory.
    pub source: Option<String>,
    /// The fields of the class itself.
    pub fields: Vec<Field>,
    /// The methods of the class itself.
    pub methods: Vec<Method>,
}

/// A field.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type, as in `[I` or `Ljava/lang/String;`.
    pub descriptor: String,
    /// Its access flags.
    pub access: u16,
    /// The value, if it is a constant. Such a field is never written.
    pub constant: Option<Constant>,
}

/// The value of a constant field.
#[derive(Debug, Clone, PartialEq)]
pub enum Constant {
    /// An `int` or a smaller type.
    Int(i32),
    /// A `long`.
    Long(i64),
    /// A `float`.
    Float(f32),
    /// A `double`.
    Double(f64),
    /// A `String`.
    Text(String),
}

/// A method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Method {
    /// Its name: constructors are `<init>`, the initialisation of the class is `<clinit>`.
    pub name: String,
    /// Its parameters and result, as in `(IJ)V`.
    pub descriptor: String,
    /// Its access flags.
    pub access: u16,
    /// Whether it has code: abstract and native methods have none.
    pub has_code: bool,
    /// The names of its parameters, if it was compiled with `-parameters`. Unnamed ones are empty.
    pub parameters: Vec<String>,
    /// Its parameters and local variables, if it was compiled with `-g`.
    pub locals: Vec<Local>,
    /// The line number table.
    pub lines: Vec<Line>,
}

/// A local variable or parameter in its scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Local {
    /// Its name.
    pub name: String,
    /// Its type.
    pub descriptor: String,
    /// Its slot.
    pub slot: u16,
    /// Start of the scope, in bytes of the code.
    pub start: u16,
    /// Length of the scope in bytes.
    pub length: u16,
}

/// Entry of the line number table: the code from `pc` up to the next entry belongs to the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// Start of the code.
    pub pc: u16,
    /// The line.
    pub line: u16,
}

impl Class {
    /// Reads a class file.
    ///
    /// ```
    /// use invigil_weave::{Class, helper_class};
    /// let class = Class::read(&helper_class("java/lang/Invigil")).unwrap();
    /// assert_eq!(class.name, "java/lang/Invigil");
    /// assert_eq!(class.parent.as_deref(), Some("java/lang/Object"));
    /// assert!(class.methods.iter().any(|m| m.name == "pLJ" && m.descriptor == "(Ljava/lang/Object;JI)V"));
    /// ```
    pub fn read(bytes: &[u8]) -> Result<Class, ClassFileError> {
        let raw = ClassFileParts::read(bytes)?;
        let malformed = |message| move || ClassFileError::Malformed { offset: raw.pool_end, message };
        let name =
            raw.pool.class(raw.this_class).ok_or_else(malformed("the class has no name"))?.into_owned();
        let parent = match raw.super_class {
            0 => None,
            index => {
                Some(raw.pool.class(index).ok_or_else(malformed("the parent has no name"))?.into_owned())
            }
        };
        let interfaces = raw
            .interfaces
            .iter()
            .map(|&index| {
                raw.pool.class(index).map(Into::into).ok_or_else(malformed("an interface has no name"))
            })
            .collect::<Result<_, _>>()?;
        let source = match raw.attribute(&raw.attributes, b"SourceFile") {
            Some(at) => raw.pool.text(content(&raw, at).u2("the name of the source")?).map(Into::into),
            None => None,
        };
        Ok(Class {
            major: raw.major,
            access: raw.access,
            name,
            parent,
            interfaces,
            source,
            fields: raw.fields.iter().map(|member| field(&raw, member)).collect::<Result<_, _>>()?,
            methods: raw.methods.iter().map(|member| method(&raw, member)).collect::<Result<_, _>>()?,
        })
    }
}

fn content<'a>(raw: &ClassFileParts<'a>, attribute: Attribute) -> Reader<'a> {
    Reader::part(raw.bytes, attribute.start, attribute.end)
}

fn text(raw: &ClassFileParts<'_>, index: u16, offset: usize) -> Result<String, ClassFileError> {
    let text = raw.pool.text(index).ok_or(ClassFileError::Malformed { offset, message: "missing name" })?;
    Ok(text.into_owned())
}

fn field(raw: &ClassFileParts<'_>, member: &Member) -> Result<Field, ClassFileError> {
    let constant = match raw.attribute(&member.attributes, b"ConstantValue") {
        Some(at) => raw.pool.value(content(raw, at).u2("the value of a field")?).map(|value| match value {
            Value::Int(value) => Constant::Int(value),
            Value::Long(value) => Constant::Long(value),
            Value::Float(value) => Constant::Float(value),
            Value::Double(value) => Constant::Double(value),
            Value::Text(value) => Constant::Text(value.into_owned()),
        }),
        None => None,
    };
    Ok(Field {
        name: text(raw, member.name, member.start)?,
        descriptor: text(raw, member.descriptor, member.start)?,
        access: member.access,
        constant,
    })
}

fn method(raw: &ClassFileParts<'_>, member: &Member) -> Result<Method, ClassFileError> {
    let parameters = match raw.attribute(&member.attributes, b"MethodParameters") {
        Some(at) => parameter_names(raw, at)?,
        None => Vec::new(),
    };
    let mut method = Method {
        name: text(raw, member.name, member.start)?,
        descriptor: text(raw, member.descriptor, member.start)?,
        access: member.access,
        has_code: false,
        parameters,
        locals: Vec::new(),
        lines: Vec::new(),
    };
    if let Some(code) = raw.attribute(&member.attributes, b"Code") {
        method.has_code = true;
        const PART: &str = "the code of a method";
        let mut reader = content(raw, code);
        reader.take(4, PART)?;
        let length = reader.u4(PART)? as usize;
        reader.take(length, PART)?;
        let handlers = usize::from(reader.u2(PART)?);
        reader.take(handlers * 8, PART)?;
        for attribute in raw::attributes(&mut reader, PART)? {
            match raw.pool.raw(attribute.name) {
                Some(b"LocalVariableTable") => method.locals.extend(locals(raw, attribute)?),
                Some(b"LineNumberTable") => method.lines.extend(lines(raw, attribute)?),
                _ => {}
            }
        }
    }
    Ok(method)
}

/// The names in a `MethodParameters` attribute.
pub(crate) fn parameter_names(
    raw: &ClassFileParts<'_>,
    attribute: Attribute,
) -> Result<Vec<String>, ClassFileError> {
    const PART: &str = "the method parameters";
    let mut reader = content(raw, attribute);
    let count = reader.u1(PART)?;
    (0..count)
        .map(|_| {
            let name = reader.u2(PART)?;
            reader.u2(PART)?;
            if name == 0 { Ok(String::new()) } else { text(raw, name, attribute.start) }
        })
        .collect()
}

/// The entries of a `LocalVariableTable` attribute.
pub(crate) fn locals(raw: &ClassFileParts<'_>, attribute: Attribute) -> Result<Vec<Local>, ClassFileError> {
    const PART: &str = "the local variable table";
    let mut reader = content(raw, attribute);
    let count = reader.u2(PART)?;
    (0..count)
        .map(|_| {
            let (start, length) = (reader.u2(PART)?, reader.u2(PART)?);
            let name = text(raw, reader.u2(PART)?, reader.at())?;
            let descriptor = text(raw, reader.u2(PART)?, reader.at())?;
            Ok(Local { name, descriptor, slot: reader.u2(PART)?, start, length })
        })
        .collect()
}

/// The entries of a `LineNumberTable` attribute.
pub(crate) fn lines(raw: &ClassFileParts<'_>, attribute: Attribute) -> Result<Vec<Line>, ClassFileError> {
    const PART: &str = "the line number table";
    let mut reader = content(raw, attribute);
    let count = reader.u2(PART)?;
    (0..count).map(|_| Ok(Line { pc: reader.u2(PART)?, line: reader.u2(PART)? })).collect()
}
