//! Calls of methods of the program by actions.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// A method call with constant arguments, such as `Control.gate.move(2, "up")`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MethodCall {
    /// The class, or the path to the object: `Control.gate`.
    pub of: String,
    /// The name of the method.
    pub method: String,
    /// The arguments.
    pub arguments: Vec<CallArgument>,
}

/// A constant argument.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum CallArgument {
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

impl CallArgument {
    /// The Java keyword of its type.
    pub fn type_word(&self) -> &'static str {
        match self {
            CallArgument::Boolean(_) => "boolean",
            CallArgument::Char(_) => "char",
            CallArgument::Int(_) => "int",
            CallArgument::Long(_) => "long",
            CallArgument::Float(_) => "float",
            CallArgument::Double(_) => "double",
            CallArgument::Text(_) => "String",
        }
    }
}

/// `Control.gate.move(int, String)`
impl fmt::Display for MethodCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}(", self.of, self.method)?;
        for (at, argument) in self.arguments.iter().enumerate() {
            write!(f, "{}{}", if at == 0 { "" } else { ", " }, argument.type_word())?;
        }
        f.write_str(")")
    }
}
