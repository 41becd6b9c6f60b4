//! Reading of locations as bytes and numbers.

use crate::machine::{Memory, XMM0};
use crate::value::number::{Integer, Number, from_extended};
use crate::value::scope::Scope;
use crate::value::typed_value::{Location, TypedValue, Unavailable};
use crate::value::types::{Basic, Bits, Encoding, Shape, Type};
use gimli::Register;

/// Maximum size of one read, because a corrupted length must not exhaust the memory.
pub(crate) const MAX_BYTES: u64 = 1 << 20;

impl Scope<'_> {
    /// The value of a register in a frame.
    pub(crate) fn register(&self, number: Register, frame: usize) -> Result<u128, Unavailable> {
        let registers = self.registers(frame).ok_or(Unavailable::NoRegister(number.0))?;
        let vector = number.0.checked_sub(XMM0.0).filter(|n| *n < 16);
        let value = match vector {
            Some(n) => registers.vector(usize::from(n)),
            None => registers.get(number).map(u128::from),
        };
        value.ok_or(Unavailable::NoRegister(number.0))
    }

    /// Fills `into` with the bytes at a location.
    pub(crate) fn fill(&self, location: &Location, into: &mut [u8]) -> Result<(), Unavailable> {
        match location {
            Location::Memory(address) => {
                self.memory.read(*address, into).map_err(|e| Unavailable::Unreadable(e.0))
            }
            Location::Register { number, offset, frame } => {
                let bytes = self.register(*number, *frame)?.to_le_bytes();
                let from = usize::try_from(*offset).unwrap_or(usize::MAX);
                let part = bytes.get(from..).and_then(|bytes| bytes.get(..into.len()));
                into.copy_from_slice(part.ok_or(Unavailable::NotUnderstood)?);
                Ok(())
            }
            Location::Bytes(bytes) => {
                // A computed value may be narrower than its type.
                for (i, byte) in into.iter_mut().enumerate() {
                    *byte = bytes.get(i).copied().unwrap_or(0);
                }
                Ok(())
            }
            Location::Pieces(pieces) => {
                let mut rest = into;
                for piece in pieces.iter() {
                    let length = usize::try_from(piece.size).unwrap_or(usize::MAX).min(rest.len());
                    let (part, remainder) = rest.split_at_mut(length);
                    self.fill(&piece.location, part)?;
                    rest = remainder;
                }
                if rest.is_empty() { Ok(()) } else { Err(Unavailable::OptimizedOut) }
            }
            Location::Unavailable(reason) => Err(*reason),
        }
    }

    /// Reads `size` bytes at a location.
    pub(crate) fn bytes_at(&self, location: &Location, size: u64) -> Result<Vec<u8>, Unavailable> {
        if size > MAX_BYTES {
            return Err(Unavailable::Composite);
        }
        let mut bytes = vec![0; size as usize];
        self.fill(location, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads up to 16 bytes at a location as an unsigned number.
    pub(crate) fn word_at(&self, location: &Location, size: u64) -> Result<u128, Unavailable> {
        let mut bytes = [0; 16];
        let wanted = bytes.get_mut(..size.min(16) as usize).unwrap_or_default();
        self.fill(location, wanted)?;
        Ok(u128::from_le_bytes(bytes))
    }

    /// The bits of a number, pointer or enumerator, and their type.
    pub(crate) fn scalar(&self, typed_value: &TypedValue) -> Result<Option<(u128, Basic)>, Unavailable> {
        let basic = match self.info.shape(&typed_value.ty) {
            Shape::Basic(basic) => basic,
            Shape::Pointer(_) => {
                let size = self.info.size(&typed_value.ty).unwrap_or(8);
                // Wide pointers have two words; the first one is the address.
                Basic { size: size.min(8), ..Basic::ADDRESS }
            }
            Shape::Enumeration(at) => {
                let size = self.info.size(&typed_value.ty).unwrap_or(4);
                Basic::integer((size * 8).clamp(8, 128) as u8, self.info.enumeration_is_signed(at))
                    .sized(size)
            }
            Shape::Reference(_) => {
                let target = self.without_reference(typed_value)?;
                return self.scalar(&target);
            }
            _ => return Ok(None),
        };
        if basic.size > 16 {
            return Ok(None);
        }
        let bits = match typed_value.bits {
            Some(bits) => self.bits_at(&typed_value.location, bits, &basic)?,
            None => self.word_at(&typed_value.location, basic.size)?,
        };
        Ok(Some((bits, basic)))
    }

    fn bits_at(&self, location: &Location, bits: Bits, basic: &Basic) -> Result<u128, Unavailable> {
        let word = self.word_at(location, (bits.first + bits.count).div_ceil(8))?;
        let width = bits.count.clamp(1, 128) as u8;
        let signed = matches!(basic.encoding, Encoding::Signed | Encoding::Char { signed: true });
        Ok(Integer::new(word >> bits.first.min(127), width, signed).bits())
    }

    /// The value as a number, if it is one.
    pub(crate) fn number(&self, typed_value: &TypedValue) -> Result<Option<Number>, Unavailable> {
        Ok(self.scalar(typed_value)?.and_then(|(bits, basic)| number_of(bits, &basic)))
    }

    /// The address that a pointer, array or function denotes.
    pub(crate) fn address(&self, typed_value: &TypedValue) -> Result<Option<u64>, Unavailable> {
        match self.info.shape(&typed_value.ty) {
            Shape::Array(..) | Shape::Function(_) => match &typed_value.location {
                Location::Memory(address) => Ok(Some(*address)),
                Location::Unavailable(reason) => Err(*reason),
                _ => Ok(None),
            },
            _ => Ok(self.scalar(typed_value)?.map(|(bits, _)| bits as u64)),
        }
    }

    /// Follows C++ references; other values are returned unchanged.
    pub(crate) fn without_reference(&self, typed_value: &TypedValue) -> Result<TypedValue, Unavailable> {
        match self.info.shape(&typed_value.ty) {
            Shape::Reference(target) => {
                let address = self.word_at(&typed_value.location, 8)? as u64;
                Ok(TypedValue::new(target, Location::Memory(address)))
            }
            _ => Ok(typed_value.clone()),
        }
    }

    /// Reads a zero-terminated string as far as it is readable. Returns its bytes, and whether it was truncated.
    pub(crate) fn text_at(&self, address: u64, max_len: usize) -> Result<(Vec<u8>, bool), Unavailable> {
        text_in(self.memory, address, max_len)
    }
}

/// Reads a zero-terminated string as far as it is readable. Returns its bytes, and whether it was truncated.
pub(crate) fn text_in(
    memory: &dyn Memory,
    address: u64,
    max_len: usize,
) -> Result<(Vec<u8>, bool), Unavailable> {
    const CHUNK: u64 = 64;
    let mut text = Vec::new();
    let mut at = address;
    while text.len() < max_len {
        // Reads do not cross a page, because the next one may not be mapped.
        let in_page = 4096 - at % 4096;
        let mut bytes = [0; CHUNK as usize];
        let chunk = bytes.get_mut(..in_page.min(CHUNK) as usize).unwrap_or_default();
        if memory.read(at, chunk).is_err() {
            if text.is_empty() {
                return Err(Unavailable::Unreadable(at));
            }
            return Ok((text, true));
        }
        if let Some(end) = chunk.iter().position(|byte| *byte == 0) {
            text.extend_from_slice(chunk.get(..end).unwrap_or_default());
            let more = text.len() > max_len;
            text.truncate(max_len);
            return Ok((text, more));
        }
        at = at.wrapping_add(chunk.len() as u64);
        text.extend_from_slice(chunk);
    }
    text.truncate(max_len);
    Ok((text, true))
}

impl Basic {
    /// The same type with another size.
    pub(crate) fn sized(self, size: u64) -> Basic {
        Basic { size, ..self }
    }

    /// Whether the type is signed.
    pub(crate) fn is_signed(&self) -> bool {
        matches!(self.encoding, Encoding::Signed | Encoding::Char { signed: true })
    }
}

/// Interprets bits as a number of a type.
pub(crate) fn number_of(bits: u128, basic: &Basic) -> Option<Number> {
    if basic.size == 0 {
        return None;
    }
    Some(match basic.encoding {
        Encoding::Float => Number::Float(match basic.size {
            4 => f64::from(f32::from_bits(bits as u32)),
            8 => f64::from_bits(bits as u64),
            16 => {
                let bytes = bits.to_le_bytes();
                from_extended(*bytes.first_chunk()?)
            }
            _ => return None,
        }),
        Encoding::Other => return None,
        _ => Number::Integer(Integer::new(bits, (basic.size * 8).min(128) as u8, basic.is_signed())),
    })
}

/// A value computed by an expression.
pub(crate) fn computed(number: Number) -> TypedValue {
    match number {
        Number::Integer(value) => {
            let basic = Basic::integer(value.width(), value.is_signed());
            let bytes = value.bits().to_le_bytes();
            TypedValue::known(Type::Basic(basic), bytes.get(..basic.size as usize).unwrap_or(&bytes))
        }
        Number::Float(value) => TypedValue::known(Type::Basic(Basic::DOUBLE), &value.to_le_bytes()),
    }
}
