//! Methods of the program that actions call.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// A method of the program, with what it is given: `Control.gate.move(2, "up")`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Call {
    /// The class, or the way to the object: `Control.gate`.
    pub of: String,
    /// The name of the method.
    pub method: String,
    /// What it is given.
    pub arguments: Vec<Argument>,
}

/// A value that a method is given.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Argument {
    /// `true` or `false`
    Boolean(bool),
    /// `'a'`
    Char(u16),
    /// `42`
    Int(i32),
    /// `42L`
    Long(i64),
    /// `1.5f`
    Float(f32),
    /// `1.5`
    Double(f64),
    /// `"text"`
    Text(String),
}

impl Argument {
    /// The word for its type in Java.
    pub fn type_word(&self) -> &'static str {
        match self {
            Argument::Boolean(_) => "boolean",
            Argument::Char(_) => "char",
            Argument::Int(_) => "int",
            Argument::Long(_) => "long",
            Argument::Float(_) => "float",
            Argument::Double(_) => "double",
            Argument::Text(_) => "String",
        }
    }
}

/// `Control.gate.move(int, String)`
impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}(", self.of, self.method)?;
        for (at, argument) in self.arguments.iter().enumerate() {
            write!(f, "{}{}", if at == 0 { "" } else { ", " }, argument.type_word())?;
        }
        f.write_str(")")
    }
}
