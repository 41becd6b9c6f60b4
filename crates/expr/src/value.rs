//! Values of the block language, sixteen bytes each.
//!
//! A [`Value`] stores `None`, booleans, integers, floats and strings of up to fourteen bytes inline. It refers
//! to larger values by number: an object of a [`Heap`](crate::heap::Heap), a range of the current event's text,
//! or a range of the program's constant pool. It contains no pointer, so that arrays of values can be copied,
//! compared and sent as bytes.

use alloc::string::String;

/// Maximum length of an inline string.
pub const SHORT_STRING: usize = 14;

/// Representation of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Tag {
    /// Not a value of the language: an unassigned variable or a missing parameter.
    Unset = 0,
    /// `None`.
    None = 1,
    /// `True` or `False`.
    Bool = 2,
    /// A 64-bit integer.
    Int = 3,
    /// A 64-bit float.
    Float = 4,
    /// An inline string of at most [`SHORT_STRING`] bytes.
    Short = 5,
    /// A longer string, in the text of the current event.
    Text = 6,
    /// A longer string, in the constant pool of the program.
    Pool = 7,
    /// A longer string, list, tuple, set or dict, in the heap.
    Object = 8,
}

/// A value of the block language.
///
/// ```
/// use invigil_expr::value::Value;
/// assert_eq!(Value::int(3).as_int(), Some(3));
/// assert_eq!(Value::short("push").and_then(|v| v.as_short().map(str::len)), Some(4));
/// assert!(Value::short("longer than fourteen bytes").is_none());
/// ```
#[derive(Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(transparent)]
pub struct Value {
    // Bytes: the tag, the length of an inline string, and its up to fourteen bytes. Other values have their
    // payload in the second word. Little-endian on all machines, so that the bytes can be sent.
    words: [u64; 2],
}

impl Value {
    /// See [`Tag::Unset`].
    pub const UNSET: Value = Value::new(Tag::Unset, 0);
    /// `None`.
    pub const NONE: Value = Value::new(Tag::None, 0);
    /// `True`.
    pub const TRUE: Value = Value::new(Tag::Bool, 1);
    /// `False`.
    pub const FALSE: Value = Value::new(Tag::Bool, 0);

    #[inline(always)]
    const fn new(tag: Tag, word: u64) -> Value {
        Value { words: [(tag as u64).to_le(), word.to_le()] }
    }

    /// An integer.
    #[inline(always)]
    pub const fn int(i: i64) -> Value {
        Value::new(Tag::Int, i as u64)
    }

    /// A float. All NaNs have one representation, so that equal bytes mean equal values.
    #[inline(always)]
    pub fn float(f: f64) -> Value {
        Value::new(Tag::Float, if f.is_nan() { f64::NAN.to_bits() } else { f.to_bits() })
    }

    /// `True` or `False`.
    #[inline(always)]
    pub const fn bool(b: bool) -> Value {
        Value::new(Tag::Bool, b as u64)
    }

    /// A string of at most [`SHORT_STRING`] bytes.
    #[inline(always)]
    pub fn short(s: &str) -> Option<Value> {
        if s.len() > SHORT_STRING {
            return None;
        }
        let mut bytes = [0u8; 16];
        bytes[0] = Tag::Short as u8;
        bytes[1] = s.len() as u8;
        bytes[2..2 + s.len()].copy_from_slice(s.as_bytes());
        let mut words = [0; 2];
        bytemuck::bytes_of_mut(&mut words).copy_from_slice(&bytes);
        Some(Value { words })
    }

    /// A string of any length: inline if it is short, otherwise appended to the text of the event, `arena`.
    ///
    /// ```
    /// use invigil_expr::value::Value;
    ///
    /// let mut arena = String::from("previous");
    /// assert_eq!(Value::of_text("short", &mut arena).as_short(), Some("short"));
    /// assert_eq!(Value::of_text("longer than fourteen bytes", &mut arena).as_text(), Some((8, 26)));
    /// assert_eq!(arena, "previouslonger than fourteen bytes");
    /// ```
    #[inline]
    pub fn of_text(text: &str, arena: &mut String) -> Value {
        Value::short(text).unwrap_or_else(|| {
            let start = arena.len() as u32;
            arena.push_str(text);
            Value::text(start, text.len() as u32)
        })
    }

    /// The string at `start..start + len` of the text of the current event.
    ///
    /// Only for strings longer than [`SHORT_STRING`], so that every string has one representation.
    #[inline(always)]
    pub fn text(start: u32, len: u32) -> Value {
        debug_assert!(len as usize > SHORT_STRING);
        Value::new(Tag::Text, u64::from(start) | u64::from(len) << 32)
    }

    /// The string at `start..start + len` of the program's constant pool.
    #[cfg(feature = "compile")]
    pub(crate) fn pool(start: u32, len: u32) -> Value {
        debug_assert!(len as usize > SHORT_STRING);
        Value::new(Tag::Pool, u64::from(start) | u64::from(len) << 32)
    }

    /// An object of the heap.
    #[inline(always)]
    pub(crate) const fn object(object: u32) -> Value {
        Value::new(Tag::Object, object as u64)
    }

    /// The representation.
    #[inline(always)]
    pub fn tag(self) -> Tag {
        match self.words[0].to_le() as u8 {
            1 => Tag::None,
            2 => Tag::Bool,
            3 => Tag::Int,
            4 => Tag::Float,
            5 => Tag::Short,
            6 => Tag::Text,
            7 => Tag::Pool,
            8 => Tag::Object,
            _ => Tag::Unset,
        }
    }

    /// Whether the value has this representation.
    #[inline(always)]
    pub fn is(self, tag: Tag) -> bool {
        self.words[0].to_le() as u8 == tag as u8
    }

    /// Whether this is [`Tag::Unset`].
    #[inline(always)]
    pub fn is_unset(self) -> bool {
        self.is(Tag::Unset)
    }

    /// Whether this is `None`.
    #[inline(always)]
    pub fn is_none(self) -> bool {
        self.is(Tag::None)
    }

    #[inline(always)]
    fn word(self) -> u64 {
        self.bits().1
    }

    /// The sixteen bytes as two words. Inline values with equal bits are equal, except NaN.
    #[inline(always)]
    pub fn bits(self) -> (u64, u64) {
        (u64::from_le(self.words[0]), u64::from_le(self.words[1]))
    }

    /// The value with these [`bits`](Value::bits).
    #[inline(always)]
    pub fn from_bits((low, high): (u64, u64)) -> Value {
        Value { words: [low.to_le(), high.to_le()] }
    }

    /// The integer, if this is one. Booleans are not.
    #[inline(always)]
    pub fn as_int(self) -> Option<i64> {
        self.is(Tag::Int).then(|| self.word() as i64)
    }

    /// The float, if this is one.
    #[inline(always)]
    pub fn as_float(self) -> Option<f64> {
        self.is(Tag::Float).then(|| f64::from_bits(self.word()))
    }

    /// The boolean, if this is one.
    #[inline(always)]
    pub fn as_bool(self) -> Option<bool> {
        self.is(Tag::Bool).then(|| self.word() != 0)
    }

    /// The string, if this is an inline one.
    #[inline]
    pub fn as_short(&self) -> Option<&str> {
        if !self.is(Tag::Short) {
            return None;
        }
        let bytes = bytemuck::bytes_of(&self.words);
        let len = usize::from(bytes[1]).min(SHORT_STRING);
        core::str::from_utf8(&bytes[2..2 + len]).ok()
    }

    /// Start and length, if this is a string in the event's text.
    #[inline(always)]
    pub fn as_text(self) -> Option<(u32, u32)> {
        self.is(Tag::Text).then(|| (self.word() as u32, (self.word() >> 32) as u32))
    }

    /// Start and length, if this is a string in the program's constant pool.
    #[inline(always)]
    pub(crate) fn as_pool(self) -> Option<(u32, u32)> {
        self.is(Tag::Pool).then(|| (self.word() as u32, (self.word() >> 32) as u32))
    }

    /// The object, if this is one of the heap.
    #[inline(always)]
    pub(crate) fn as_object(self) -> Option<u32> {
        self.is(Tag::Object).then(|| self.word() as u32)
    }

    /// Whether the value can be read without a heap and texts.
    #[inline(always)]
    pub fn is_inline(self) -> bool {
        self.words[0].to_le() as u8 <= Tag::Short as u8
    }
}

impl core::fmt::Debug for Value {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.tag() {
            Tag::Unset => f.write_str("unset"),
            Tag::None => f.write_str("None"),
            Tag::Bool => f.write_str(if self.word() != 0 { "True" } else { "False" }),
            Tag::Int => write!(f, "{}", self.word() as i64),
            Tag::Float => write!(f, "{:?}", f64::from_bits(self.word())),
            Tag::Short => write!(f, "{:?}", self.as_short().unwrap_or("")),
            tag @ (Tag::Text | Tag::Pool | Tag::Object) => write!(f, "{tag:?}({:#x})", self.word()),
        }
    }
}
