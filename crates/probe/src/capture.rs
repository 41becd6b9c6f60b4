//! Captures: parameters of events, read from the registers and memory of the thread in which the event occurs.
//!
//! The debugger has found the location of each value in the debug information; here, a few loads read it. Values that
//! need more (those of a caller, arithmetic) are not read here: their sites keep a trap, and the debugger reads them.

use crate::{pending_calls, safe_read};
use alloc::vec::Vec;
use invigil_expr::value::Value;
use serde::{Deserialize, Serialize};

/// Maximum number of bytes that are read for one string.
pub const MAX_TEXT: usize = 4096;

/// General registers of a thread, in DWARF order.
pub type GeneralRegisters = [u64; 16];
/// Vector registers, low half first.
pub type VectorRegisters = [[u64; 2]; 16];

/// Base of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PathBase {
    /// A fixed address.
    Absolute(u64),
    /// A register plus an offset.
    Register(u8, u64),
    /// The thread-local memory plus an offset.
    ThreadLocal(u64),
    /// Argument of the call that is returning, as saved at its entry, plus an offset.
    Argument {
        /// Site of the entry.
        entry_site: u32,
        /// Number of the argument.
        argument: u8,
        /// Offset from the argument.
        offset: u64,
    },
}

/// Location of a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ValuePath {
    /// A general register.
    General {
        /// DWARF number of the register.
        register: u8,
        /// Byte of the register at which the value starts.
        first_byte: u8,
    },
    /// A vector register.
    Vector {
        /// Number of the register.
        register: u8,
        /// Byte of the register at which the value starts.
        first_byte: u8,
    },
    /// Argument of the call that is returning, as saved at its entry.
    Argument {
        /// Site of the entry.
        entry_site: u32,
        /// Number of the argument.
        argument: u8,
    },
    /// Memory: from the base address, each step loads the word there and adds an offset.
    Memory(PathBase, Vec<u64>),
}

/// Interpretation of the bits, and the value that a monitor receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CaptureKind {
    /// An integer of at most 64 bits. If it does not fit the monitors' integers, it counts as unavailable.
    Integer {
        /// First bit.
        first: u8,
        /// Number of bits.
        count: u8,
        /// Whether the topmost bit is the sign bit.
        signed: bool,
    },
    /// The bits of a word regardless of sign: an address.
    Word,
    /// Whether an integer of this many bits is nonzero.
    Bool(u8),
    /// A floating-point number of four or eight bytes.
    Float(u8),
    /// The address of the location itself.
    Address,
    /// The text at the location, at most this many bytes.
    Text(u16),
    /// The text that the pointer at the location refers to.
    TextPointer,
}

/// A value that needs no read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Builtin {
    /// Never available.
    Unavailable,
    /// Id of the thread.
    Thread,
    /// Id of the process.
    Process(i64),
    /// Seconds since the target started. The field is the start time, in nanoseconds of the monotonic clock.
    Elapsed(u64),
}

/// How one parameter of an event is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Capture {
    /// Known without a read.
    Builtin(Builtin),
    /// Read from a location.
    Read(ValuePath, CaptureKind),
}

/// Fast form of a [`Capture`] of an integer: in a register, in memory at a register plus an offset, or the thread's
/// id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct IntCapture {
    register: u8,
    /// Number of bytes to load; 0 for the register itself, [`THREAD`] for the thread's id.
    bytes: u8,
    /// Left and right shift that isolate the bits.
    shift_left: u8,
    shift_right: u8,
    signed: bool,
    /// Offset from the register.
    offset: u64,
}

/// Value of [`IntCapture::bytes`] that stands for the thread's id.
const THREAD: u8 = u8::MAX;

impl IntCapture {
    /// Reads the value; `None` if it is not readable.
    #[inline(always)]
    pub(crate) fn take(&self, general: &GeneralRegisters, thread: u32) -> Option<i64> {
        let mut word = general[usize::from(self.register & 15)];
        if self.bytes != 0 {
            if self.bytes == THREAD {
                return Some(i64::from(thread));
            }
            word = safe_read::bytes(word.wrapping_add(self.offset), self.bytes.into())?;
        }
        let word = word << (self.shift_left & 63);
        Some(if self.signed {
            word as i64 >> (self.shift_right & 63)
        } else {
            (word >> (self.shift_right & 63)) as i64
        })
    }
}

/// Registers of a thread at an event.
#[derive(Clone, Copy, Debug)]
pub struct EventRegisters<'a> {
    /// Its general registers.
    pub general: &'a GeneralRegisters,
    /// Its vector registers.
    pub vectors: &'a VectorRegisters,
    /// Address of its thread-local memory.
    pub thread_base: u64,
    /// Its id.
    pub thread: u32,
}

impl PathBase {
    #[inline]
    fn address(self, registers: &EventRegisters<'_>) -> Option<u64> {
        Some(match self {
            PathBase::Absolute(at) => at,
            PathBase::Register(number, offset) => {
                registers.general[usize::from(number & 15)].wrapping_add(offset)
            }
            PathBase::ThreadLocal(offset) => registers.thread_base.wrapping_add(offset),
            PathBase::Argument { entry_site, argument, offset } => {
                pending_calls::argument(registers.thread, registers.general, entry_site, argument)?
                    .wrapping_add(offset)
            }
        })
    }
}

impl ValuePath {
    fn address(&self, registers: &EventRegisters<'_>) -> Option<u64> {
        let ValuePath::Memory(base, steps) = self else { return None };
        let mut at = base.address(registers)?;
        for step in steps {
            at = safe_read::word(at)?.wrapping_add(*step);
        }
        Some(at)
    }

    /// Bits of the value, of which the lowest `bytes` bytes count.
    #[inline]
    fn bits(&self, registers: &EventRegisters<'_>, bytes: u64) -> Option<u64> {
        match self {
            ValuePath::General { register, first_byte } => {
                Some(registers.general[usize::from(register & 15)] >> (u32::from(*first_byte) * 8).min(63))
            }
            ValuePath::Vector { register, first_byte } => {
                let [low, high] = registers.vectors[usize::from(register & 15)];
                let whole = u128::from(high) << 64 | u128::from(low);
                Some((whole >> (u32::from(*first_byte) * 8).min(127)) as u64)
            }
            ValuePath::Argument { entry_site, argument } => {
                pending_calls::argument(registers.thread, registers.general, *entry_site, *argument)
            }
            ValuePath::Memory(..) => safe_read::bytes(self.address(registers)?, bytes),
        }
    }
}

/// Extracts an integer; `None` if it does not fit.
#[inline]
fn integer(word: u64, first: u8, count: u8, signed: bool) -> Option<i64> {
    let unused = 64 - u32::from(count.clamp(1, 64));
    let bits = word >> first.min(63) << unused;
    if signed { Some(bits as i64 >> unused) } else { i64::try_from(bits >> unused).ok() }
}

impl Capture {
    /// Whether the value is an integer whenever it is available.
    pub fn is_integer(&self) -> bool {
        match self {
            Capture::Builtin(builtin) => matches!(builtin, Builtin::Thread | Builtin::Process(_)),
            Capture::Read(_, kind) => {
                matches!(kind, CaptureKind::Integer { .. } | CaptureKind::Word | CaptureKind::Address)
            }
        }
    }

    /// Fast form of [`integer`](Capture::integer), for the common locations and for integers that always fit.
    pub(crate) fn int_capture(&self) -> Option<IntCapture> {
        let (path, kind) = match self {
            Capture::Read(path, kind) => (path, kind),
            Capture::Builtin(Builtin::Thread) => {
                return Some(IntCapture { bytes: THREAD, ..IntCapture::default() });
            }
            Capture::Builtin(_) => return None,
        };
        let (first, count, signed) = match *kind {
            CaptureKind::Integer { first, count, signed } if signed || count < 64 => (first, count, signed),
            CaptureKind::Word => (0, 64, true),
            _ => return None,
        };
        let (register, first_byte, offset, bytes) = match path {
            ValuePath::General { register, first_byte } => (*register, *first_byte, 0, 0),
            ValuePath::Memory(PathBase::Register(number, offset), steps) if steps.is_empty() => {
                (*number, 0, *offset, first.checked_add(count)?.div_ceil(8))
            }
            _ => return None,
        };
        let first = first_byte.checked_mul(8)?.checked_add(first)?;
        let shift_left = 64u8.checked_sub(first.checked_add(count)?)?;
        let shift_right = 64u8.checked_sub(count).filter(|shift| *shift < 64)?;
        Some(IntCapture { register, bytes, shift_left, shift_right, signed, offset })
    }

    /// Reads an integer; `None` if it is unavailable.
    #[inline]
    pub fn integer(&self, registers: &EventRegisters<'_>) -> Option<i64> {
        match self {
            Capture::Builtin(Builtin::Thread) => Some(i64::from(registers.thread)),
            Capture::Builtin(Builtin::Process(number)) => Some(*number),
            Capture::Builtin(_) => None,
            Capture::Read(path, CaptureKind::Integer { first, count, signed }) => {
                let word = path.bits(registers, u64::from(*first + *count).div_ceil(8))?;
                integer(word, *first, *count, *signed)
            }
            Capture::Read(path, CaptureKind::Word) => path.bits(registers, 8).map(|word| word as i64),
            Capture::Read(path, CaptureKind::Address) => path.address(registers).map(|at| at as i64),
            Capture::Read(..) => None,
        }
    }

    /// Reads a value of any kind. Long text is appended to `text`, which the value refers to.
    pub fn value(
        &self,
        registers: &EventRegisters<'_>,
        now: impl Fn() -> u64,
        text: &mut alloc::string::String,
    ) -> Value {
        let value = match self {
            Capture::Builtin(Builtin::Elapsed(start_time)) => {
                Some(Value::float(now().wrapping_sub(*start_time) as f64 / 1e9))
            }
            Capture::Read(path, CaptureKind::Bool(count)) => {
                let word = path.bits(registers, u64::from(*count).div_ceil(8));
                word.and_then(|word| integer(word, 0, *count, true)).map(|number| Value::bool(number != 0))
            }
            Capture::Read(path, CaptureKind::Float(4)) => {
                path.bits(registers, 4).map(|bits| Value::float(f32::from_bits(bits as u32).into()))
            }
            Capture::Read(path, CaptureKind::Float(_)) => {
                path.bits(registers, 8).map(|bits| Value::float(f64::from_bits(bits)))
            }
            Capture::Read(path, CaptureKind::Text(max_length)) => {
                path.address(registers).and_then(|at| read_text(at, usize::from(*max_length), text))
            }
            Capture::Read(path, CaptureKind::TextPointer) => {
                path.bits(registers, 8).and_then(|at| read_text(at, MAX_TEXT, text))
            }
            _ => self.integer(registers).map(Value::int),
        };
        value.unwrap_or(Value::UNSET)
    }
}

/// Copies a string. Invalid UTF-8 is replaced. A longer string is truncated.
// Not inlined, so that its buffer is not part of the frame in which the monitors step.
#[inline(never)]
fn read_text(at: u64, max_length: usize, text: &mut alloc::string::String) -> Option<Value> {
    let mut remaining = max_length.min(MAX_TEXT);
    let mut bytes = Vec::new();
    // In small blocks: most strings are short, and the stack of the target may be small.
    let mut part = [0; 64];
    let mut at = at;
    while remaining > 0 {
        let room = &mut part[..remaining.min(64)];
        let (size, length) = (room.len(), safe_read::text(at, room)?);
        bytes.extend_from_slice(&part[..length]);
        if length < size {
            break;
        }
        at = at.wrapping_add(length as u64);
        remaining -= length;
    }
    let lossy = alloc::string::String::from_utf8_lossy(&bytes);
    Some(Value::of_text(&lossy, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use alloc::vec;

    fn general() -> GeneralRegisters {
        core::array::from_fn(|number| 0x1122_3344_5566_7700 + number as u64)
    }

    #[test]
    fn integer_captures_of_all_widths_agree_with_fast_form() {
        let general = general();
        let registers =
            EventRegisters { general: &general, vectors: &[[0; 2]; 16], thread_base: 0, thread: 7 };
        let read = |after, first, count, signed| {
            let kind = CaptureKind::Integer { first, count, signed };
            Capture::Read(ValuePath::General { register: 5, first_byte: after }, kind).integer(&registers)
        };
        assert_eq!(read(0, 0, 8, true), Some(5));
        assert_eq!(read(1, 0, 8, true), Some(0x77));
        assert_eq!(read(0, 0, 32, true), Some(0x5566_7705));
        assert_eq!(read(0, 8, 4, true), Some(7));
        let memory: [u64; 2] = [0x8877_6655_4433_2211, 0xffee_ddcc_bbaa_9988];
        let mut pointing = general;
        pointing[5] = memory.as_ptr() as u64;
        let pointing = EventRegisters { general: &pointing, ..registers };
        for (after, first, count, signed) in
            [(0, 0, 8, true), (1, 0, 8, true), (4, 0, 32, false), (0, 8, 4, true), (0, 0, 64, true)]
        {
            let kind = CaptureKind::Integer { first, count, signed };
            let capture = Capture::Read(ValuePath::General { register: 5, first_byte: after }, kind);
            let int_capture = capture.int_capture().unwrap();
            assert_eq!(int_capture.take(&general, registers.thread), capture.integer(&registers));
            let offset = u64::from(after);
            let capture = Capture::Read(ValuePath::Memory(PathBase::Register(5, offset), vec![]), kind);
            let int_capture = capture.int_capture().unwrap();
            assert_eq!(int_capture.take(pointing.general, pointing.thread), capture.integer(&pointing));
            assert!(int_capture.take(pointing.general, pointing.thread).is_some());
        }
        let thread = Capture::Builtin(Builtin::Thread);
        assert_eq!(thread.int_capture().unwrap().take(&general, 7), thread.integer(&registers));
        let too_large = CaptureKind::Integer { first: 0, count: 64, signed: false };
        assert_eq!(
            Capture::Read(ValuePath::General { register: 5, first_byte: 0 }, too_large).int_capture(),
            None
        );
        assert_eq!(integer(u64::MAX, 0, 64, true), Some(-1));
        assert_eq!(integer(u64::MAX, 0, 64, false), None);
        assert_eq!(integer(0xff, 0, 8, true), Some(-1));
        assert_eq!(integer(0xff, 4, 4, false), Some(15));
    }

    #[test]
    fn captures_read_members_texts_and_numbers() {
        let text = c"a text that is longer than what fits into a value";
        let structure: [u64; 3] = [1, text.as_ptr() as u64, f64::to_bits(2.5)];
        let mut general = general();
        general[5] = structure.as_ptr() as u64;
        let registers =
            EventRegisters { general: &general, vectors: &[[0; 2]; 16], thread_base: 0, thread: 7 };
        let mut long_text = String::new();
        let mut read =
            |path: ValuePath, kind| Capture::Read(path, kind).value(&registers, || 0, &mut long_text).bits();
        let member = |offset| ValuePath::Memory(PathBase::Register(5, offset), vec![]);
        assert_eq!(
            read(member(0), CaptureKind::Integer { first: 0, count: 32, signed: true }),
            Value::int(1).bits()
        );
        assert_eq!(read(member(16), CaptureKind::Float(8)), Value::float(2.5).bits());
        assert_eq!(read(member(0), CaptureKind::Bool(8)), Value::bool(true).bits());
        assert_eq!(read(member(0), CaptureKind::Address), Value::int(general[5] as i64).bits());
        let first = read(
            ValuePath::Memory(PathBase::Register(5, 8), vec![0]),
            CaptureKind::Integer { first: 0, count: 8, signed: true },
        );
        assert_eq!(first, Value::int(i64::from(b'a')).bits());
        let all = read(member(8), CaptureKind::TextPointer);
        assert_eq!(all, Value::text(0, text.count_bytes() as u32).bits());
        assert_eq!(long_text.as_bytes(), text.to_bytes());
    }
}
