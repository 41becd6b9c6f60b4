//! Scalars: the values that monitors receive.

use crate::machine::Memory;
use crate::value::number::{Integer, Number};
use crate::value::read::{number_of, text_in};
use crate::value::scope::Scope;
use crate::value::typed_value::{TypedValue, Unavailable};
use crate::value::types::{Basic, Encoding, Shape};

/// The kind of scalar that a parameter requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ScalarKind {
    /// Any kind.
    #[default]
    Any,
    /// An integer.
    Int,
    /// An address; all bits of an unsigned integer are kept.
    Address,
    /// A floating-point number.
    Float,
    /// A Boolean.
    Bool,
    /// A string.
    Str,
}

/// A scalar without its type.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// An integer, enumerator or address. An integer that does not fit is [too large](Unavailable::TooLarge). The bits
    /// of an address are kept, so an address above `i64::MAX` is negative.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A Boolean.
    Bool(bool),
    /// A string; invalid UTF-8 is replaced.
    Str(String),
    /// No value, with the reason.
    Unavailable(Unavailable),
}

/// Maximum length of a string in bytes.
const MAX_TEXT_LEN: usize = 4096;

/// The zero-terminated string at an address.
pub fn text_at(memory: &dyn Memory, address: u64) -> Option<String> {
    let (bytes, _) = text_in(memory, address, MAX_TEXT_LEN).ok()?;
    Some(lossy(bytes))
}

impl Scope<'_> {
    /// Reads a value as a scalar. A `char *` is an address unless a string is requested, and a `char` is an integer.
    /// Arrays of `char` and the string types of Rust and C++ are always strings.
    pub fn to_scalar(&self, typed_value: &TypedValue, wanted: ScalarKind) -> Scalar {
        self.scalar_value(typed_value, wanted).unwrap_or_else(Scalar::Unavailable)
    }

    fn scalar_value(&self, typed_value: &TypedValue, wanted: ScalarKind) -> Result<Scalar, Unavailable> {
        if let Some(reason) = typed_value.unavailable_reason() {
            return Err(reason);
        }
        let typed_value = &self.without_reference(typed_value)?;
        let is_pointer = matches!(self.info.shape(&typed_value.ty), Shape::Pointer(_));
        if (wanted == ScalarKind::Str || !is_pointer)
            && let Some(text) = self.text_of(typed_value, MAX_TEXT_LEN)?
        {
            return Ok(Scalar::Str(lossy(text)));
        }
        if let Shape::Array(..) | Shape::Record(_) = self.info.shape(&typed_value.ty) {
            return Err(Unavailable::Composite);
        }
        if let Shape::Function(_) = self.info.shape(&typed_value.ty) {
            return Ok(Scalar::Int(self.address(typed_value)?.unwrap_or(0) as i64));
        }
        let (bits, basic) = self.scalar(typed_value)?.ok_or(Unavailable::Composite)?;
        scalar_of(bits, &basic, wanted).ok_or(Unavailable::Composite)
    }
}

fn lossy(text: Vec<u8>) -> String {
    String::from_utf8(text).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Converts bits of a basic type to a scalar.
pub(crate) fn scalar_of(bits: u128, basic: &Basic, wanted: ScalarKind) -> Option<Scalar> {
    let number = number_of(bits, basic)?;
    if wanted == ScalarKind::Str {
        return match basic.encoding {
            Encoding::Char { .. } => Some(Scalar::Str(lossy(vec![bits as u8]))),
            Encoding::Unicode => Some(Scalar::Str(char::from_u32(bits as u32)?.to_string())),
            _ => scalar_of(bits, basic, ScalarKind::Any),
        };
    }
    Some(match (wanted, number) {
        (ScalarKind::Float, number) => Scalar::Float(number.to_float()),
        (ScalarKind::Bool, number) => Scalar::Bool(number.is_true()),
        (ScalarKind::Address, number) => Scalar::Int(number.to_bits() as i64),
        (_, Number::Integer(value)) if basic.encoding == Encoding::Address => Scalar::Int(value.low() as i64),
        (ScalarKind::Int, Number::Float(value)) => integer(value as i128),
        (ScalarKind::Int, Number::Integer(value)) => integer_scalar(value),
        (_, Number::Float(value)) => Scalar::Float(value),
        (_, Number::Integer(value)) if basic.encoding == Encoding::Bool => Scalar::Bool(value.low() != 0),
        (_, Number::Integer(value)) => integer_scalar(value),
    })
}

/// An integer, if it fits: a large unsigned one must not become negative.
fn integer_scalar(value: Integer) -> Scalar {
    if value.is_signed() {
        return integer(value.bits() as i128);
    }
    integer(i128::try_from(value.bits()).unwrap_or(i128::MAX))
}

fn integer(value: i128) -> Scalar {
    i64::try_from(value).map_or(Scalar::Unavailable(Unavailable::TooLarge), Scalar::Int)
}
