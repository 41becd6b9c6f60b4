//! Cells: values inside the machine, one word each, with a status.

use super::value::{Truth, Type, Value};
use super::{code, interpreter};
use alloc::string::String;
use alloc::vec::Vec;

/// Whether a [`Cell`] has a known value, and if not, why. Operators propagate the greatest status of their operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(u8)]
pub(super) enum CellStatus {
    Known,
    Undefined,
    DividedByZero,
    TextTooLong,
}

/// A value of any type.
///
/// Integers are sign-extended to 64 bits; `float` and `double` are the bits of a `double`, which represents
/// every `float`; conditions and the presence of events are 0 or 1; a string is a [`TextId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Cell {
    pub(super) bits: u64,
    pub(super) status: CellStatus,
}

impl Cell {
    pub(super) const UNDEFINED: Cell = Cell::unknown(CellStatus::Undefined);
    pub(super) const FALSE: Cell = Cell::known(0);
    pub(super) const TRUE: Cell = Cell::known(1);

    #[inline]
    pub(super) const fn known(bits: u64) -> Cell {
        Cell { bits, status: CellStatus::Known }
    }

    #[inline]
    pub(super) const fn unknown(status: CellStatus) -> Cell {
        Cell { bits: 0, status }
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
        self.status == CellStatus::Known
    }

    /// Whether the value is undefined because of a fault.
    #[inline]
    pub(super) fn is_fault(self) -> bool {
        self.status > CellStatus::Undefined
    }

    /// Whether this is a true condition or an event that occurs.
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

    /// A value that is not a string.
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

    /// The number converted to another type.
    pub(super) fn cast(self, from: Type, to: Type) -> Cell {
        code::convert(from, to).iter().fold(self, |cell, code| interpreter::evaluate(*code, [cell; 3], &[]))
    }

    /// A constant of a script, from its bits.
    pub(super) fn constant(bits: u64, ty: Type) -> Cell {
        match ty {
            Type::Float => Cell::floating(f32::from_bits(bits as u32).into()),
            Type::String => Cell::known(TextId::constant(bits as usize).0),
            _ => Cell::known(bits),
        }
    }

    /// The value of the cell as one of type `ty`.
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

/// Reference to a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextId(pub(super) u64);

impl TextId {
    const SCRATCH: u64 = 1 << 32;
    const CONSTANT: u64 = 1 << 33;

    /// A string that is kept between instants.
    pub(super) fn kept(at: usize) -> TextId {
        TextId(at as u64)
    }

    /// A string that is built and read within one instant.
    pub(super) fn scratch(at: usize) -> TextId {
        TextId(TextId::SCRATCH | at as u64)
    }

    pub(super) fn constant(at: usize) -> TextId {
        TextId(TextId::CONSTANT | at as u64)
    }
}

/// The strings that cells can refer to.
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

/// Writable strings, each of which belongs to one cell.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct TextBuffers {
    pub(super) kept: Vec<String>,
    pub(super) scratch: Vec<String>,
}

impl TextBuffers {
    pub(super) fn with<'a>(&'a self, constant: &'a [String]) -> Texts<'a> {
        Texts { kept: &self.kept, scratch: &self.scratch, constant }
    }

    /// Overwrites a string, reusing its memory; the others can be read.
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
