//! Java values and the three truth values.

use super::cell::{Cell, Texts};
use core::fmt;

/// Type of a monitored variable, a parameter or an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Type {
    /// `true` or `false`. Expressions of this type are conditions, and may be undefined.
    Boolean,
    /// A signed 8-bit integer.
    Byte,
    /// An unsigned 16-bit UTF-16 code unit.
    Char,
    /// A signed 16-bit integer.
    Short,
    /// A signed 32-bit integer.
    Int,
    /// A signed 64-bit integer.
    Long,
    /// A 32-bit floating-point number.
    Float,
    /// A 64-bit floating-point number.
    Double,
    /// A string, compared by content.
    String,
}

impl Type {
    /// All types.
    pub const ALL: [Type; 9] = [
        Type::Boolean,
        Type::Byte,
        Type::Char,
        Type::Short,
        Type::Int,
        Type::Long,
        Type::Float,
        Type::Double,
        Type::String,
    ];

    /// The keyword in Java and in scripts.
    pub fn word(self) -> &'static str {
        match self {
            Type::Boolean => "boolean",
            Type::Byte => "byte",
            Type::Char => "char",
            Type::Short => "short",
            Type::Int => "int",
            Type::Long => "long",
            Type::Float => "float",
            Type::Double => "double",
            Type::String => "String",
        }
    }

    /// The type with this keyword.
    ///
    /// ```
    /// use invigil_monitor::mac::Type;
    /// assert_eq!(Type::from_word("long"), Some(Type::Long));
    /// assert_eq!(Type::from_word("Train"), None);
    /// ```
    pub fn from_word(word: &str) -> Option<Type> {
        Type::ALL.into_iter().find(|ty| ty.word() == word)
    }

    /// Whether it is numeric: not `boolean` and not `String`.
    pub fn is_number(self) -> bool {
        !matches!(self, Type::Boolean | Type::String)
    }

    /// Whether it is an integer type.
    pub fn is_whole(self) -> bool {
        self.is_number() && !matches!(self, Type::Float | Type::Double)
    }

    /// The type in which Java evaluates a unary operator: at least `int`.
    pub fn promoted(self) -> Type {
        match self {
            Type::Byte | Type::Char | Type::Short => Type::Int,
            other => other,
        }
    }

    /// The type in which Java evaluates a binary operator on numbers: the wider one, at least `int`.
    ///
    /// ```
    /// use invigil_monitor::mac::Type;
    /// assert_eq!(Type::Byte.promoted_with(Type::Char), Type::Int);
    /// assert_eq!(Type::Long.promoted_with(Type::Float), Type::Float);
    /// ```
    pub fn promoted_with(self, other: Type) -> Type {
        self.promoted().max(other.promoted())
    }

    /// Whether Java assigns this type to `wider` without a cast.
    ///
    /// ```
    /// use invigil_monitor::mac::Type;
    /// assert!(Type::Long.widens_to(Type::Float));
    /// assert!(!Type::Short.widens_to(Type::Char));
    /// ```
    pub fn widens_to(self, wider: Type) -> bool {
        self == wider
            || match (self, wider) {
                (Type::Byte, Type::Short) => true,
                (from, to) => from.is_number() && to.is_number() && to >= Type::Int && from < to,
            }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Value of a variable, a parameter or a result.
///
/// ```
/// use invigil_monitor::mac::{Type, Value};
/// assert_eq!(Value::Char(u16::from(b'a')).ty(), Some(Type::Char));
/// assert_eq!(Value::Undefined.ty(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Unknown: not assigned, out of scope, or its object has been freed.
    Undefined,
    /// A `boolean`.
    Boolean(bool),
    /// A `byte`.
    Byte(i8),
    /// A `char`.
    Char(u16),
    /// A `short`.
    Short(i16),
    /// An `int`.
    Int(i32),
    /// A `long`.
    Long(i64),
    /// A `float`.
    Float(f32),
    /// A `double`.
    Double(f64),
    /// A `String`.
    String(&'a str),
}

impl<'a> Value<'a> {
    /// The type, unless it is undefined.
    pub fn ty(&self) -> Option<Type> {
        Some(match self {
            Value::Undefined => return None,
            Value::Boolean(_) => Type::Boolean,
            Value::Byte(_) => Type::Byte,
            Value::Char(_) => Type::Char,
            Value::Short(_) => Type::Short,
            Value::Int(_) => Type::Int,
            Value::Long(_) => Type::Long,
            Value::Float(_) => Type::Float,
            Value::Double(_) => Type::Double,
            Value::String(_) => Type::String,
        })
    }

    /// The bits of a value that is not a string.
    pub(super) fn bits(self) -> u64 {
        match self {
            Value::Undefined | Value::String(_) => 0,
            Value::Boolean(v) => u64::from(v),
            Value::Byte(v) => v as u64,
            Value::Char(v) => u64::from(v),
            Value::Short(v) => v as u64,
            Value::Int(v) => v as u64,
            Value::Long(v) => v as u64,
            Value::Float(v) => u64::from(v.to_bits()),
            Value::Double(v) => v.to_bits(),
        }
    }

    /// Casts the value as Java does; undefined if there is no such cast.
    ///
    /// ```
    /// use invigil_monitor::mac::{Type, Value};
    /// assert_eq!(Value::Double(-3.7).cast(Type::Int), Value::Int(-3));
    /// assert_eq!(Value::Int(300).cast(Type::Byte), Value::Byte(44));
    /// assert_eq!(Value::String("7").cast(Type::Int), Value::Undefined);
    /// ```
    pub fn cast(self, to: Type) -> Value<'a> {
        match (self.ty(), Cell::plain(self)) {
            (Some(from), _) if from == to => self,
            (Some(from), Some(cell)) if from.is_number() && to.is_number() => {
                cell.cast(from, to).value(to, &Texts { kept: &[], scratch: &[], constant: &[] })
            }
            _ => Value::Undefined,
        }
    }
}

/// The value of a condition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Truth {
    /// False.
    False,
    /// True.
    True,
    /// Undefined: a value that it reads is undefined.
    #[default]
    Undefined,
}

impl Truth {
    /// The keyword.
    pub fn word(self) -> &'static str {
        match self {
            Truth::False => "false",
            Truth::True => "true",
            Truth::Undefined => "undefined",
        }
    }
}

impl From<bool> for Truth {
    fn from(holds: bool) -> Truth {
        if holds { Truth::True } else { Truth::False }
    }
}

impl fmt::Display for Truth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
