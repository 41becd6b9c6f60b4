//! Assignment to variables and registers: which bytes must be written.

use crate::value::error::ExpressionError;
use crate::value::evaluate::{EvalError, MAX_MACRO_DEPTH, decoded, encoded};
use crate::value::expression::Expression;
use crate::value::number::Number;
use crate::value::scope::Scope;
use crate::value::typed_value::{Location, TypedValue, Unavailable};
use crate::value::types::{Basic, Bits, Shape};
use gimli::Register;

/// One write of an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PendingWrite {
    /// Bytes to write to memory.
    Memory {
        /// The address.
        address: u64,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// A register of the innermost frame.
    Register {
        /// Its DWARF number.
        number: Register,
        /// The new value of the whole register.
        value: u128,
    },
}

impl Scope<'_> {
    /// The writes that assign a value to a location. Nothing is written yet.
    ///
    /// # Errors
    /// If one of the expressions is invalid, the location cannot be written, or the value does not fit.
    pub fn assign(
        &self,
        location: &Expression,
        value: &Expression,
    ) -> Result<Vec<PendingWrite>, ExpressionError> {
        let at = location.root.at();
        let to_expression_error = |error| match error {
            EvalError::Invalid(error) | EvalError::Inapplicable(error, _) => error,
            EvalError::Missing(reason) => {
                ExpressionError::new(at, format!("this cannot be changed: {reason}"))
            }
        };
        let target = self.eval(&location.root, MAX_MACRO_DEPTH).map_err(to_expression_error)?;
        let target = self.without_reference(&target).map_err(|reason| to_expression_error(reason.into()))?;
        let source = self.eval(&value.root, MAX_MACRO_DEPTH).map_err(to_expression_error)?;
        let bytes = self.converted(&source, &target, value.root.at()).map_err(to_expression_error)?;
        let mut changes = Vec::new();
        self.write(&target.location, target.bits, &bytes, at, &mut changes).map_err(to_expression_error)?;
        Ok(changes)
    }

    /// Converts a value to the type of the target.
    fn converted(&self, source: &TypedValue, target: &TypedValue, at: usize) -> Result<Vec<u8>, EvalError> {
        if let Some(reason) = source.unavailable_reason() {
            return Err(reason.into());
        }
        let misfit = || {
            let (from, to) = (self.type_name(&source.ty), self.type_name(&target.ty));
            EvalError::from(ExpressionError::new(
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
                    let text = format!(
                        "the text has {} bytes or more, and there is room for {} and the terminating zero",
                        text.len(),
                        count.saturating_sub(1)
                    );
                    return Err(ExpressionError::new(at, text).into());
                }
                return Ok([text.as_slice(), &[0]].concat());
            }
            Shape::Record(_) | Shape::Array(..) => {
                let source = self.without_reference(source)?;
                let size = self.info.size(&target.ty).ok_or_else(misfit)?;
                // Several units may describe the same struct; the name identifies it.
                let same = source.ty == target.ty || self.type_name(&source.ty) == self.type_name(&target.ty);
                return if same { Ok(self.bytes_at(&source.location, size)?) } else { Err(misfit()) };
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
        location: &Location,
        bits: Option<Bits>,
        bytes: &[u8],
        at: usize,
        changes: &mut Vec<PendingWrite>,
    ) -> Result<(), EvalError> {
        if let Some(bits) = bits {
            let size = (bits.first + bits.count).div_ceil(8).min(16);
            let old = self.word_at(location, size)?;
            let mut new = [0; 16];
            for (to, from) in new.iter_mut().zip(bytes) {
                *to = *from;
            }
            let mask = u128::MAX >> (128 - bits.count.clamp(1, 128)) << bits.first.min(127);
            let word = old & !mask | (u128::from_le_bytes(new) << bits.first.min(127)) & mask;
            return self.write(
                location,
                None,
                word.to_le_bytes().get(..size as usize).unwrap_or_default(),
                at,
                changes,
            );
        }
        match location {
            Location::Memory(address) => {
                changes.push(PendingWrite::Memory { address: *address, bytes: bytes.to_vec() })
            }
            Location::Register { frame, .. } if *frame != self.innermost() => {
                return Err(ExpressionError::new(
                    at,
                    "this is in a register that an inner function has saved",
                )
                .remedy("assign it when the inner function has returned")
                .into());
            }
            Location::Register { number, offset, frame } => {
                // Writing the lower half of a register clears the upper one, as on the processor.
                let initial =
                    if bytes.len() >= 4 && number.0 < 17 { 0 } else { self.register(*number, *frame)? };
                let mut value = initial.to_le_bytes();
                let from = *offset as usize;
                if from > 0 {
                    value = self.register(*number, *frame)?.to_le_bytes();
                }
                let part = value.get_mut(from..).and_then(|rest| rest.get_mut(..bytes.len()));
                part.ok_or(Unavailable::NotUnderstood)?.copy_from_slice(bytes);
                changes.push(PendingWrite::Register { number: *number, value: u128::from_le_bytes(value) });
            }
            Location::Pieces(pieces) => {
                let mut rest = bytes;
                for piece in pieces.iter() {
                    let length = usize::try_from(piece.size).unwrap_or(usize::MAX).min(rest.len());
                    let (part, remainder) = rest.split_at(length);
                    self.write(&piece.location, None, part, at, changes)?;
                    rest = remainder;
                }
            }
            Location::Bytes(_) => {
                return Err(ExpressionError::new(at, "this is a constant and cannot be changed").into());
            }
            Location::Unavailable(reason) => return Err((*reason).into()),
        }
        Ok(())
    }

    /// Address and size of a value, if all of it is in memory.
    pub fn extent(&self, typed_value: &TypedValue) -> Option<(u64, u64)> {
        let typed_value = self.without_reference(typed_value).ok()?;
        let Location::Memory(address) = typed_value.location else { return None };
        let size = match typed_value.bits {
            Some(bits) => (bits.first + bits.count).div_ceil(8),
            None => self.info.size(&typed_value.ty)?,
        };
        Some((address, size))
    }
}
