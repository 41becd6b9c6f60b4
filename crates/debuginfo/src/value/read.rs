//! From places to bytes and numbers.

use crate::machine::{Memory, XMM0};
use crate::value::datum::{Datum, Place, Unavailable};
use crate::value::number::{Integer, Number, from_extended};
use crate::value::scope::Scope;
use crate::value::types::{Basic, Bits, Encoding, Shape, Type};
use gimli::Register;

/// More is never read at once: a length in garbage must not exhaust the memory.
pub(crate) const MOST_BYTES: u64 = 1 << 20;

impl Scope<'_> {
    /// What a register holds in a frame.
    pub(crate) fn register(&self, number: Register, frame: usize) -> Result<u128, Unavailable> {
        let registers = self.registers(frame).ok_or(Unavailable::NoRegister(number.0))?;
        let vector = number.0.checked_sub(XMM0.0).filter(|n| *n < 16);
        let value = match vector {
            Some(n) => registers.vector(usize::from(n)),
            None => registers.get(number).map(u128::from),
        };
        value.ok_or(Unavailable::NoRegister(number.0))
    }

    /// Fills `into` with what is at a place.
    pub(crate) fn fill(&self, place: &Place, into: &mut [u8]) -> Result<(), Unavailable> {
        match place {
            Place::Memory(address) => {
                self.memory.read(*address, into).map_err(|e| Unavailable::Unreadable(e.0))
            }
            Place::Register { number, offset, frame } => {
                let bytes = self.register(*number, *frame)?.to_le_bytes();
                let from = usize::try_from(*offset).unwrap_or(usize::MAX);
                let known = bytes.get(from..).and_then(|bytes| bytes.get(..into.len()));
                into.copy_from_slice(known.ok_or(Unavailable::NotUnderstood)?);
                Ok(())
            }
            Place::Bytes(bytes) => {
                // A computed value may be narrower than its type.
                for (i, byte) in into.iter_mut().enumerate() {
                    *byte = bytes.get(i).copied().unwrap_or(0);
                }
                Ok(())
            }
            Place::Pieces(pieces) => {
                let mut rest = into;
                for piece in pieces.iter() {
                    let here = usize::try_from(piece.size).unwrap_or(usize::MAX).min(rest.len());
                    let (now, later) = rest.split_at_mut(here);
                    self.fill(&piece.place, now)?;
                    rest = later;
                }
                if rest.is_empty() { Ok(()) } else { Err(Unavailable::OptimizedOut) }
            }
            Place::Unavailable(reason) => Err(*reason),
        }
    }

    /// Some bytes at a place.
    pub(crate) fn bytes_at(&self, place: &Place, size: u64) -> Result<Vec<u8>, Unavailable> {
        if size > MOST_BYTES {
            return Err(Unavailable::Composite);
        }
        let mut bytes = vec![0; size as usize];
        self.fill(place, &mut bytes)?;
        Ok(bytes)
    }

    /// Up to 16 bytes at a place as a number without sign.
    pub(crate) fn word_at(&self, place: &Place, size: u64) -> Result<u128, Unavailable> {
        let mut bytes = [0; 16];
        let wanted = bytes.get_mut(..size.min(16) as usize).unwrap_or_default();
        self.fill(place, wanted)?;
        Ok(u128::from_le_bytes(bytes))
    }

    /// The bits of a number, a pointer or an enumerator, and the type of which they are.
    pub(crate) fn scalar(&self, datum: &Datum) -> Result<Option<(u128, Basic)>, Unavailable> {
        let basic = match self.info.shape(&datum.ty) {
            Shape::Basic(basic) => basic,
            Shape::Pointer(_) => {
                let size = self.info.size(&datum.ty).unwrap_or(8);
                // Wide pointers have two words; the first is the address.
                Basic { size: size.min(8), ..Basic::ADDRESS }
            }
            Shape::Enumeration(at) => {
                let size = self.info.size(&datum.ty).unwrap_or(4);
                Basic::integer((size * 8).clamp(8, 128) as u8, self.info.enumeration_is_signed(at))
                    .sized(size)
            }
            Shape::Reference(_) => {
                let target = self.dereferenced(datum)?;
                return self.scalar(&target);
            }
            _ => return Ok(None),
        };
        if basic.size > 16 {
            return Ok(None);
        }
        let bits = match datum.bits {
            Some(bits) => self.bits_at(&datum.place, bits, &basic)?,
            None => self.word_at(&datum.place, basic.size)?,
        };
        Ok(Some((bits, basic)))
    }

    fn bits_at(&self, place: &Place, bits: Bits, basic: &Basic) -> Result<u128, Unavailable> {
        let word = self.word_at(place, (bits.first + bits.count).div_ceil(8))?;
        let width = bits.count.clamp(1, 128) as u8;
        let signed = matches!(basic.encoding, Encoding::Signed | Encoding::Char { signed: true });
        Ok(Integer::new(word >> bits.first.min(127), width, signed).bits())
    }

    /// The number that a value is, if it is one.
    pub(crate) fn number(&self, datum: &Datum) -> Result<Option<Number>, Unavailable> {
        Ok(self.scalar(datum)?.and_then(|(bits, basic)| number_of(bits, &basic)))
    }

    /// The address that a pointer or an array stands for.
    pub(crate) fn address(&self, datum: &Datum) -> Result<Option<u64>, Unavailable> {
        match self.info.shape(&datum.ty) {
            Shape::Array(..) | Shape::Function(_) => match &datum.place {
                Place::Memory(address) => Ok(Some(*address)),
                Place::Unavailable(reason) => Err(*reason),
                _ => Ok(None),
            },
            _ => Ok(self.scalar(datum)?.map(|(bits, _)| bits as u64)),
        }
    }

    /// What a reference of C++ refers to; other values are themselves.
    pub(crate) fn dereferenced(&self, datum: &Datum) -> Result<Datum, Unavailable> {
        match self.info.shape(&datum.ty) {
            Shape::Reference(target) => {
                let address = self.word_at(&datum.place, 8)? as u64;
                Ok(Datum::new(target, Place::Memory(address)))
            }
            _ => Ok(datum.clone()),
        }
    }

    /// The bytes of a text that ends with a zero, as far as they can be read; and whether more follow.
    pub(crate) fn text_at(&self, address: u64, most: usize) -> Result<(Vec<u8>, bool), Unavailable> {
        text_in(self.memory, address, most)
    }
}

/// The bytes of a text that ends with a zero, as far as they can be read; and whether more follow.
pub(crate) fn text_in(
    memory: &dyn Memory,
    address: u64,
    most: usize,
) -> Result<(Vec<u8>, bool), Unavailable> {
    const CHUNK: u64 = 64;
    let mut text = Vec::new();
    let mut at = address;
    while text.len() < most {
        // Not beyond a page: the next one may not be there.
        let room = 4096 - at % 4096;
        let mut bytes = [0; CHUNK as usize];
        let chunk = bytes.get_mut(..room.min(CHUNK) as usize).unwrap_or_default();
        if memory.read(at, chunk).is_err() {
            if text.is_empty() {
                return Err(Unavailable::Unreadable(at));
            }
            return Ok((text, true));
        }
        if let Some(end) = chunk.iter().position(|byte| *byte == 0) {
            text.extend_from_slice(chunk.get(..end).unwrap_or_default());
            let more = text.len() > most;
            text.truncate(most);
            return Ok((text, more));
        }
        at = at.wrapping_add(chunk.len() as u64);
        text.extend_from_slice(chunk);
    }
    text.truncate(most);
    Ok((text, true))
}

impl Basic {
    /// The same with another size.
    pub(crate) fn sized(self, size: u64) -> Basic {
        Basic { size, ..self }
    }

    /// Whether integers of this type have a sign.
    pub(crate) fn is_signed(&self) -> bool {
        matches!(self.encoding, Encoding::Signed | Encoding::Char { signed: true })
    }
}

/// The number that bits mean in a type.
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

/// A value that was computed.
pub(crate) fn computed(number: Number) -> Datum {
    match number {
        Number::Integer(value) => {
            let basic = Basic::integer(value.width(), value.is_signed());
            let bytes = value.bits().to_le_bytes();
            Datum::known(Type::Basic(basic), bytes.get(..basic.size as usize).unwrap_or(&bytes))
        }
        Number::Float(value) => Datum::known(Type::Basic(Basic::DOUBLE), &value.to_le_bytes()),
    }
}
