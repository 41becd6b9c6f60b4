//! Calls of methods of the program by actions.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// A method call with constant arguments, such as `Control.gate.move(2, "up")`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MethodCall {
    /// The class, or the path to the object: `Control.gate`.
    pub receiver: String,
    /// The name of the method.
    pub method: String,
    /// The arguments.
    pub arguments: Vec<JavaConstant>,
}

/// A constant of a Java type: an argument of a call, or the value of a `static final` field.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum JavaConstant {
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

impl JavaConstant {
    /// The Java keyword of its type.
    pub fn type_word(&self) -> &'static str {
        match self {
            JavaConstant::Boolean(_) => "boolean",
            JavaConstant::Char(_) => "char",
            JavaConstant::Int(_) => "int",
            JavaConstant::Long(_) => "long",
            JavaConstant::Float(_) => "float",
            JavaConstant::Double(_) => "double",
            JavaConstant::Text(_) => "String",
        }
    }
}

/// `Control.gate.move(int, String)`
impl fmt::Display for MethodCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}(", self.receiver, self.method)?;
        for (at, argument) in self.arguments.iter().enumerate() {
            write!(f, "{}{}", if at == 0 { "" } else { ", " }, argument.type_word())?;
        }
        f.write_str(")")
    }
}
