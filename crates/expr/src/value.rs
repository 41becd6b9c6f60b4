//! The values that blocks compute with: sixteen plain bytes each.
//!
//! A [`Value`] holds small things whole (`None`, booleans, integers, floats, strings of up to fourteen
//! bytes) and names large ones by a number: an object of a [`Heap`](crate::heap::Heap), a stretch of the
//! text of the event at hand, or a stretch of the compiled program's own text. It holds no pointer, so an
//! array of values can be copied, compared and shipped as bytes.

/// The longest string that fits into a value itself.
pub const SHORT_STRING: usize = 14;

/// What a value is, before looking at what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Tag {
    /// Not a value of the language: a variable that nothing was assigned to, a parameter not given.
    Unset = 0,
    /// `None`.
    None = 1,
    /// `True` or `False`.
    Bool = 2,
    /// A 64-bit integer.
    Int = 3,
    /// A 64-bit float.
    Float = 4,
    /// A string of at most [`SHORT_STRING`] bytes, held here.
    Short = 5,
    /// A longer string, in the text of the event at hand.
    Text = 6,
    /// A longer string, in the text of the program.
    Pool = 7,
    /// A longer string, list, tuple, set or dict, in the heap.
    Object = 8,
}

/// One value of the block language.
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
    // As bytes: the tag, the length of a short string, and up to fourteen bytes of it. Anything else has
    // its payload in the second word. Little-endian, whatever the machine, so that bytes can be shipped.
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

    /// A float. All NaNs become one, so that equal bytes mean equal values.
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

    /// The string at `start..start + len` of the text of the event at hand; for strings longer than
    /// [`SHORT_STRING`] only, so that a string has one form.
    #[inline(always)]
    pub fn text(start: u32, len: u32) -> Value {
        debug_assert!(len as usize > SHORT_STRING);
        Value::new(Tag::Text, u64::from(start) | u64::from(len) << 32)
    }

    /// The same for the text of the program.
    #[cfg(feature = "compile")]
    pub(crate) fn pool(start: u32, len: u32) -> Value {
        debug_assert!(len as usize > SHORT_STRING);
        Value::new(Tag::Pool, u64::from(start) | u64::from(len) << 32)
    }

    /// The heap's object number `object`.
    #[inline(always)]
    pub(crate) const fn object(object: u32) -> Value {
        Value::new(Tag::Object, object as u64)
    }

    /// What kind of value this is.
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

    /// Whether the value is of this kind.
    #[inline(always)]
    pub fn is(self, tag: Tag) -> bool {
        self.words[0].to_le() as u8 == tag as u8
    }

    /// Whether nothing was assigned here.
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

    /// The sixteen bytes as two words. Values that are not in a text or a heap are equal when these are.
    #[inline(always)]
    pub fn bits(self) -> (u64, u64) {
        (u64::from_le(self.words[0]), u64::from_le(self.words[1]))
    }

    /// The value whose [`bits`](Value::bits) these are.
    #[inline(always)]
    pub fn from_bits((low, high): (u64, u64)) -> Value {
        Value { words: [low.to_le(), high.to_le()] }
    }

    /// The integer, if this is one; booleans are not.
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

    /// The string, if this is one that is held here.
    #[inline]
    pub fn as_short(&self) -> Option<&str> {
        if !self.is(Tag::Short) {
            return None;
        }
        let bytes = bytemuck::bytes_of(&self.words);
        let len = usize::from(bytes[1]).min(SHORT_STRING);
        core::str::from_utf8(&bytes[2..2 + len]).ok()
    }

    /// Start and length in the event's text, if it is there.
    #[inline(always)]
    pub fn as_text(self) -> Option<(u32, u32)> {
        self.is(Tag::Text).then(|| (self.word() as u32, (self.word() >> 32) as u32))
    }

    /// Start and length in the program's text, if it is there.
    #[inline(always)]
    pub(crate) fn as_pool(self) -> Option<(u32, u32)> {
        self.is(Tag::Pool).then(|| (self.word() as u32, (self.word() >> 32) as u32))
    }

    /// The heap object's number, if it is one.
    #[inline(always)]
    pub(crate) fn as_object(self) -> Option<u32> {
        self.is(Tag::Object).then(|| self.word() as u32)
    }

    /// Whether the value is complete in itself: needs no heap and no text to be read.
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
