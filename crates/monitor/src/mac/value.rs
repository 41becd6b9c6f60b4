//! Values as Java has them, and the three truth values.

use super::cell::{Cell, Texts};
use core::fmt;

/// The type of a monitored variable, of a parameter, or of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Type {
    /// `true` or `false`; expressions of this type are conditions, and may be undefined.
    Boolean,
    /// Eight bits with a sign.
    Byte,
    /// One UTF-16 unit: sixteen bits without a sign.
    Char,
    /// Sixteen bits with a sign.
    Short,
    /// Thirty-two bits with a sign.
    Int,
    /// Sixty-four bits with a sign.
    Long,
    /// A number with a fraction, in thirty-two bits.
    Float,
    /// A number with a fraction, in sixty-four bits.
    Double,
    /// Text, compared by its content.
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

    /// The word for it in Java and in scripts.
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

    /// The type that a script calls `word`.
    ///
    /// ```
    /// use invigil_monitor::mac::Type;
    /// assert_eq!(Type::from_word("long"), Some(Type::Long));
    /// assert_eq!(Type::from_word("Train"), None);
    /// ```
    pub fn from_word(word: &str) -> Option<Type> {
        Type::ALL.into_iter().find(|ty| ty.word() == word)
    }

    /// Whether it is a number: everything but `boolean` and `String`.
    pub fn is_number(self) -> bool {
        !matches!(self, Type::Boolean | Type::String)
    }

    /// Whether it is a whole number.
    pub fn is_whole(self) -> bool {
        self.is_number() && !matches!(self, Type::Float | Type::Double)
    }

    /// The type in which Java computes with one operand of this type: at least `int`.
    pub fn promoted(self) -> Type {
        match self {
            Type::Byte | Type::Char | Type::Short => Type::Int,
            other => other,
        }
    }

    /// The type in which Java computes with two numbers, the wider one of the two and at least `int`.
    ///
    /// ```
    /// use invigil_monitor::mac::Type;
    /// assert_eq!(Type::Byte.with(Type::Char), Type::Int);
    /// assert_eq!(Type::Long.with(Type::Float), Type::Float);
    /// ```
    pub fn with(self, other: Type) -> Type {
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

/// A value of a variable, a parameter or a result, as it comes in and goes out.
///
/// ```
/// use invigil_monitor::mac::{Type, Value};
/// assert_eq!(Value::Char(u16::from(b'a')).ty(), Some(Type::Char));
/// assert_eq!(Value::Undefined.ty(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Nothing is known: not assigned yet, or out of scope, or its object is gone.
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

    /// A plain value as the bits of a word; nothing is told of a text.
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

    /// The same as a value of another type, as Java casts numbers; undefined where there is no such cast.
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
    /// It does not hold.
    False,
    /// It holds.
    True,
    /// Something that it reads has no value.
    #[default]
    Undefined,
}

impl Truth {
    /// The word for it.
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
