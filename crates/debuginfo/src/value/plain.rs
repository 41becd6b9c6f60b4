//! Values as monitors get them.

use crate::machine::Memory;
use crate::value::datum::{Datum, Unavailable};
use crate::value::number::{Integer, Number};
use crate::value::read::{number_of, text_in};
use crate::value::scope::Scope;
use crate::value::types::{Basic, Encoding, Shape};

/// The kind of value that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Wanted {
    /// Whatever it is.
    #[default]
    Any,
    /// An integer.
    Int,
    /// An address; of an integer without a sign all bits are kept.
    Address,
    /// A floating-point number.
    Float,
    /// A truth value.
    Bool,
    /// A text.
    Str,
}

/// A value without its type.
#[derive(Clone, Debug, PartialEq)]
pub enum Plain {
    /// An integer, an enumerator, an address. An integer that does not fit is
    /// [too large](Unavailable::TooLarge); the bits of an address are kept, so that one above `i64::MAX` comes
    /// out negative.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// A text. Bytes that are not UTF-8 are replaced.
    Str(String),
    /// No value, and why.
    Unavailable(Unavailable),
}

/// The longest text that a monitor gets.
const LONGEST: usize = 4096;

/// The text at an address, up to the zero that ends it.
pub fn text_at(memory: &dyn Memory, address: u64) -> Option<String> {
    let (bytes, _) = text_in(memory, address, LONGEST).ok()?;
    Some(lossy(bytes))
}

impl Scope<'_> {
    /// A value as a monitor gets it. A `char *` is an address unless a text is wanted, and a `char` an integer;
    /// an array of `char` and the texts of Rust and C++ are always texts.
    pub fn plain(&self, datum: &Datum, wanted: Wanted) -> Plain {
        self.plain_value(datum, wanted).unwrap_or_else(Plain::Unavailable)
    }

    fn plain_value(&self, datum: &Datum, wanted: Wanted) -> Result<Plain, Unavailable> {
        if let Some(reason) = datum.unavailable() {
            return Err(reason);
        }
        let datum = &self.dereferenced(datum)?;
        let is_pointer = matches!(self.info.shape(&datum.ty), Shape::Pointer(_));
        if (wanted == Wanted::Str || !is_pointer)
            && let Some(text) = self.text_of(datum, LONGEST)?
        {
            return Ok(Plain::Str(lossy(text)));
        }
        if let Shape::Array(..) | Shape::Record(_) = self.info.shape(&datum.ty) {
            return Err(Unavailable::Composite);
        }
        if let Shape::Function(_) = self.info.shape(&datum.ty) {
            return Ok(Plain::Int(self.address(datum)?.unwrap_or(0) as i64));
        }
        let (bits, basic) = self.scalar(datum)?.ok_or(Unavailable::Composite)?;
        plain_of(bits, &basic, wanted).ok_or(Unavailable::Composite)
    }
}

fn lossy(text: Vec<u8>) -> String {
    String::from_utf8(text).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// The value that bits of a basic type are.
pub(crate) fn plain_of(bits: u128, basic: &Basic, wanted: Wanted) -> Option<Plain> {
    let number = number_of(bits, basic)?;
    if wanted == Wanted::Str {
        return match basic.encoding {
            Encoding::Char { .. } => Some(Plain::Str(lossy(vec![bits as u8]))),
            Encoding::Unicode => Some(Plain::Str(char::from_u32(bits as u32)?.to_string())),
            _ => plain_of(bits, basic, Wanted::Any),
        };
    }
    Some(match (wanted, number) {
        (Wanted::Float, number) => Plain::Float(number.to_float()),
        (Wanted::Bool, number) => Plain::Bool(number.is_true()),
        (Wanted::Address, number) => Plain::Int(number.to_bits() as i64),
        (_, Number::Integer(value)) if basic.encoding == Encoding::Address => Plain::Int(value.low() as i64),
        (Wanted::Int, Number::Float(value)) => integer(value as i128),
        (Wanted::Int, Number::Integer(value)) => whole(value),
        (_, Number::Float(value)) => Plain::Float(value),
        (_, Number::Integer(value)) if basic.encoding == Encoding::Bool => Plain::Bool(value.low() != 0),
        (_, Number::Integer(value)) => whole(value),
    })
}

/// An integer, if it fits: a large one must not turn negative.
fn whole(value: Integer) -> Plain {
    if value.is_signed() {
        return integer(value.bits() as i128);
    }
    integer(i128::try_from(value.bits()).unwrap_or(i128::MAX))
}

fn integer(value: i128) -> Plain {
    i64::try_from(value).map_or(Plain::Unavailable(Unavailable::TooLarge), Plain::Int)
}
