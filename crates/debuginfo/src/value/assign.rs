//! What must be written to change a value.

use crate::value::datum::{Datum, Place, Unavailable};
use crate::value::evaluate::{DEEPEST_MACRO, Stop, decoded, encoded};
use crate::value::expression::Expression;
use crate::value::mistake::Mistake;
use crate::value::number::Number;
use crate::value::scope::Scope;
use crate::value::types::{Basic, Bits, Shape};
use gimli::Register;

/// Something to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Bytes into memory.
    Memory {
        /// Where.
        address: u64,
        /// What.
        bytes: Vec<u8>,
    },
    /// A register of the innermost frame.
    Register {
        /// Its DWARF number.
        number: Register,
        /// Its new value, all of it.
        value: u128,
    },
}

impl Scope<'_> {
    /// What must be written so that a place has a value.
    ///
    /// # Errors
    /// If one of the expressions is wrong, the place cannot be changed, or the value does not fit into it.
    pub fn assign(&self, place: &Expression, value: &Expression) -> Result<Vec<Change>, Mistake> {
        let at = place.root.at();
        let said = |stop| match stop {
            Stop::Mistake(mistake) => mistake,
            Stop::Missing(reason) => Mistake::new(at, format!("this cannot be changed: {reason}")),
        };
        let target = self.eval(&place.root, DEEPEST_MACRO).map_err(said)?;
        let target = self.dereferenced(&target).map_err(|reason| said(reason.into()))?;
        let source = self.eval(&value.root, DEEPEST_MACRO).map_err(said)?;
        let bytes = self.converted(&source, &target, value.root.at()).map_err(said)?;
        let mut changes = Vec::new();
        self.write(&target.place, target.bits, &bytes, at, &mut changes).map_err(said)?;
        Ok(changes)
    }

    /// The bytes of a value in the type of the place.
    fn converted(&self, source: &Datum, target: &Datum, at: usize) -> Result<Vec<u8>, Stop> {
        if let Some(reason) = source.unavailable() {
            return Err(reason.into());
        }
        let misfit = || {
            let (from, to) = (self.type_name(&source.ty), self.type_name(&target.ty));
            Stop::from(Mistake::new(
                at,
                format!("a value of type `{from}` does not fit into one of type `{to}`"),
            ))
        };
        let basic = match self.info.shape(&target.ty) {
            Shape::Basic(basic) => basic,
            Shape::Pointer(_) => Basic::UNSIGNED_LONG,
            Shape::Enumeration(at) => {
                let size = self.info.size(&target.ty).unwrap_or(4);
                Basic::integer((size * 8).clamp(8, 128) as u8, self.info.enumeration_is_signed(at))
                    .sized(size)
            }
            Shape::Array(element, Some(count)) if self.is_char(&element) => {
                let text = self.text_of(source, count as usize)?.ok_or_else(misfit)?;
                if text.len() as u64 >= count {
                    let text =
                        format!("the text has {} bytes or more, and there is room for {count}", text.len());
                    return Err(Mistake::new(at, text).into());
                }
                return Ok([text.as_slice(), &[0]].concat());
            }
            Shape::Record(_) | Shape::Array(..) => {
                let source = self.dereferenced(source)?;
                let size = self.info.size(&target.ty).ok_or_else(misfit)?;
                // The same struct may be described in several units; then its name is the same.
                let same = source.ty == target.ty || self.type_name(&source.ty) == self.type_name(&target.ty);
                return if same { Ok(self.bytes_at(&source.place, size)?) } else { Err(misfit()) };
            }
            _ => return Err(misfit()),
        };
        let number = match self.address(source) {
            Ok(Some(address))
                if !matches!(
                    self.info.shape(&source.ty),
                    Shape::Basic(_) | Shape::Enumeration(_) | Shape::Reference(_)
                ) =>
            {
                Number::Integer(crate::value::number::Integer::new(u128::from(address), 64, false))
            }
            _ => self.number(source)?.ok_or_else(misfit)?,
        };
        let bytes = encoded(number, &basic);
        decoded(&bytes, &basic).map(|_| bytes).ok_or_else(misfit)
    }

    fn write(
        &self,
        place: &Place,
        bits: Option<Bits>,
        bytes: &[u8],
        at: usize,
        changes: &mut Vec<Change>,
    ) -> Result<(), Stop> {
        if let Some(bits) = bits {
            let size = (bits.first + bits.count).div_ceil(8).min(16);
            let old = self.word_at(place, size)?;
            let mut new = [0; 16];
            for (to, from) in new.iter_mut().zip(bytes) {
                *to = *from;
            }
            let mask = u128::MAX >> (128 - bits.count.clamp(1, 128)) << bits.first.min(127);
            let word = old & !mask | (u128::from_le_bytes(new) << bits.first.min(127)) & mask;
            return self.write(
                place,
                None,
                word.to_le_bytes().get(..size as usize).unwrap_or_default(),
                at,
                changes,
            );
        }
        match place {
            Place::Memory(address) => {
                changes.push(Change::Memory { address: *address, bytes: bytes.to_vec() })
            }
            Place::Register { frame, .. } if *frame != self.innermost() => {
                return Err(Mistake::new(at, "this is in a register that an inner function has saved")
                    .remedy("go to the innermost frame, or wait until the function is back there")
                    .into());
            }
            Place::Register { number, offset, frame } => {
                // The upper half of a register is cleared with the lower one, as the processor does it.
                let keep =
                    if bytes.len() >= 4 && number.0 < 17 { 0 } else { self.register(*number, *frame)? };
                let mut value = keep.to_le_bytes();
                let from = *offset as usize;
                if from > 0 {
                    value = self.register(*number, *frame)?.to_le_bytes();
                }
                let part = value.get_mut(from..).and_then(|rest| rest.get_mut(..bytes.len()));
                part.ok_or(Unavailable::NotUnderstood)?.copy_from_slice(bytes);
                changes.push(Change::Register { number: *number, value: u128::from_le_bytes(value) });
            }
            Place::Pieces(pieces) => {
                let mut rest = bytes;
                for piece in pieces.iter() {
                    let here = usize::try_from(piece.size).unwrap_or(usize::MAX).min(rest.len());
                    let (now, later) = rest.split_at(here);
                    self.write(&piece.place, None, now, at, changes)?;
                    rest = later;
                }
            }
            Place::Bytes(_) => {
                return Err(Mistake::new(at, "this is a constant and cannot be changed").into());
            }
            Place::Unavailable(reason) => return Err((*reason).into()),
        }
        Ok(())
    }

    /// The address and the length of what a value is, if it is in memory and nowhere else.
    pub fn extent(&self, datum: &Datum) -> Option<(u64, u64)> {
        let datum = self.dereferenced(datum).ok()?;
        let Place::Memory(address) = datum.place else { return None };
        let size = match datum.bits {
            Some(bits) => (bits.first + bits.count).div_ceil(8),
            None => self.info.size(&datum.ty)?,
        };
        Some((address, size))
    }
}
