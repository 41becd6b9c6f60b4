//! One value inside the machine: a word, and whether it means something.

use super::value::{Truth, Type, Value};
use super::{code, run};
use alloc::string::String;
use alloc::vec::Vec;

/// Whether a [`Cell`] has a value, and if not, why. The greatest of two reasons is passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(u8)]
pub(super) enum State {
    Known,
    Undefined,
    DividedByZero,
    TextTooLong,
}

/// A value of any type: whole numbers with their sign in 64 bits, `float` and `double` both as the bits of a
/// `double` (every `float` is one), conditions and the presence of events as 0 and 1, text as a [`TextId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Cell {
    pub(super) bits: u64,
    pub(super) state: State,
}

impl Cell {
    pub(super) const UNDEFINED: Cell = Cell::without(State::Undefined);
    pub(super) const FALSE: Cell = Cell::known(0);
    pub(super) const TRUE: Cell = Cell::known(1);

    #[inline]
    pub(super) const fn known(bits: u64) -> Cell {
        Cell { bits, state: State::Known }
    }

    #[inline]
    pub(super) const fn without(state: State) -> Cell {
        Cell { bits: 0, state }
    }

    #[inline]
    pub(super) fn whole(value: i64) -> Cell {
        Cell::known(value as u64)
    }

    #[inline]
    pub(super) fn floating(value: f64) -> Cell {
        Cell::known(value.to_bits())
    }

    #[inline]
    pub(super) fn is_known(self) -> bool {
        self.state == State::Known
    }

    /// Whether something went wrong, as opposed to there being no value.
    #[inline]
    pub(super) fn is_fault(self) -> bool {
        self.state > State::Undefined
    }

    /// Whether it is a condition that is true, or an event that happens.
    #[inline]
    pub(super) fn holds(self) -> bool {
        self.is_known() && self.bits != 0
    }

    #[inline]
    pub(super) fn as_whole(self) -> i64 {
        self.bits as i64
    }

    #[inline]
    pub(super) fn as_floating(self) -> f64 {
        f64::from_bits(self.bits)
    }

    #[inline]
    pub(super) fn as_text(self) -> TextId {
        TextId(self.bits)
    }

    #[inline]
    pub(super) fn truth(self) -> Truth {
        if self.is_known() { Truth::from(self.bits != 0) } else { Truth::Undefined }
    }

    /// A value that is no text.
    pub(super) fn plain(value: Value<'_>) -> Option<Cell> {
        Some(match value {
            Value::Undefined => Cell::UNDEFINED,
            Value::Boolean(v) => Cell::known(u64::from(v)),
            Value::Byte(v) => Cell::whole(v.into()),
            Value::Char(v) => Cell::whole(v.into()),
            Value::Short(v) => Cell::whole(v.into()),
            Value::Int(v) => Cell::whole(v.into()),
            Value::Long(v) => Cell::whole(v),
            Value::Float(v) => Cell::floating(v.into()),
            Value::Double(v) => Cell::floating(v),
            Value::String(_) => return None,
        })
    }

    /// The same number as another type has it.
    pub(super) fn cast(self, from: Type, to: Type) -> Cell {
        code::convert(from, to).iter().fold(self, |cell, code| run::once(*code, [cell; 3], &[]))
    }

    /// A constant of a script, from its bits there.
    pub(super) fn constant(bits: u64, ty: Type) -> Cell {
        match ty {
            Type::Float => Cell::floating(f32::from_bits(bits as u32).into()),
            Type::String => Cell::known(TextId::constant(bits as usize).0),
            _ => Cell::known(bits),
        }
    }

    /// The value that the cell stands for, as one of type `ty`.
    pub(super) fn value<'a>(self, ty: Type, texts: &Texts<'a>) -> Value<'a> {
        if !self.is_known() {
            return Value::Undefined;
        }
        match ty {
            Type::Boolean => Value::Boolean(self.bits != 0),
            Type::Byte => Value::Byte(self.bits as i8),
            Type::Char => Value::Char(self.bits as u16),
            Type::Short => Value::Short(self.bits as i16),
            Type::Int => Value::Int(self.bits as i32),
            Type::Long => Value::Long(self.as_whole()),
            Type::Float => Value::Float(self.as_floating() as f32),
            Type::Double => Value::Double(self.as_floating()),
            Type::String => Value::String(texts.get(self.as_text())),
        }
    }
}

impl From<bool> for Cell {
    #[inline]
    fn from(holds: bool) -> Cell {
        Cell::known(u64::from(holds))
    }
}

/// Where a text lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextId(pub(super) u64);

impl TextId {
    const SCRATCH: u64 = 1 << 32;
    const CONSTANT: u64 = 1 << 33;

    /// One that lasts from instant to instant.
    pub(super) fn kept(at: usize) -> TextId {
        TextId(at as u64)
    }

    /// One that is made and read within one instant.
    pub(super) fn scratch(at: usize) -> TextId {
        TextId(TextId::SCRATCH | at as u64)
    }

    pub(super) fn constant(at: usize) -> TextId {
        TextId(TextId::CONSTANT | at as u64)
    }
}

/// The texts that cells can refer to.
#[derive(Clone, Copy)]
pub(super) struct Texts<'a> {
    pub(super) kept: &'a [String],
    pub(super) scratch: &'a [String],
    pub(super) constant: &'a [String],
}

impl<'a> Texts<'a> {
    pub(super) fn get(&self, id: TextId) -> &'a str {
        let from = match id.0 >> 32 {
            0 => self.kept,
            1 => self.scratch,
            _ => self.constant,
        };
        from.get(id.0 as u32 as usize).map_or("", |text| text)
    }
}

/// Texts that can be written: each belongs to one cell.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Owned {
    pub(super) kept: Vec<String>,
    pub(super) scratch: Vec<String>,
}

impl Owned {
    pub(super) fn with<'a>(&'a self, constant: &'a [String]) -> Texts<'a> {
        Texts { kept: &self.kept, scratch: &self.scratch, constant }
    }

    /// Writes a text anew, with the others to read from; its memory is used again.
    pub(super) fn write(
        &mut self,
        id: TextId,
        constant: &[String],
        write: impl FnOnce(&mut String, Texts<'_>),
    ) {
        let Some(slot) = self.slot(id) else { return };
        let mut text = core::mem::take(slot);
        text.clear();
        write(&mut text, self.with(constant));
        if let Some(slot) = self.slot(id) {
            *slot = text;
        }
    }

    fn slot(&mut self, id: TextId) -> Option<&mut String> {
        let at = id.0 as u32 as usize;
        match id.0 >> 32 {
            0 => self.kept.get_mut(at),
            1 => self.scratch.get_mut(at),
            _ => None,
        }
    }
}
