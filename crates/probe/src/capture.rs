//! What an event carries: read from the registers and the memory of the thread in which it happens.
//!
//! The tool has found out from debug information where a value lies; here it is a few loads. What needs more than that (values
//! that only a caller knows, arithmetic) is not read here: such a place keeps its trap, and the tool reads it.

use crate::{calls, guarded};
use alloc::vec::Vec;
use invigil_expr::value::Value;
use serde::{Deserialize, Serialize};

/// The longest text that a monitor gets.
pub const LONGEST: usize = 4096;

/// The general registers of a thread, as debug information numbers them.
pub type General = [u64; 16];
/// The vector registers, each the low half first.
pub type Vectors = [[u64; 2]; 16];

/// Where something begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Base {
    /// At an address.
    Absolute(u64),
    /// So far from where a register points.
    Register(u8, u64),
    /// So far from where the memory of the thread is.
    Thread(u64),
    /// So far from where an argument points, of a call that began at a site, and ends here.
    Passed(u32, u8, u64),
}

/// Where a value lies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Path {
    /// In a general register, after so many bytes.
    General(u8, u8),
    /// In a vector register, after so many bytes.
    Vector(u8, u8),
    /// It was passed as the argument of this number to a call that began at a site, and ends here.
    Passed(u32, u8),
    /// In memory: from a base, each step reads the word there and adds to it.
    Memory(Base, Vec<u64>),
}

/// What the bits of a value mean, and what a monitor gets of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sort {
    /// An integer of so many bits, up to 64, from this bit on; one that is too large for a monitor is none.
    Integer {
        /// The first bit.
        first: u8,
        /// How many there are.
        count: u8,
        /// Whether the uppermost is a sign.
        signed: bool,
    },
    /// The bits of a word, whatever its sign: an address.
    Word,
    /// Whether an integer of so many bits is other than zero.
    Truth(u8),
    /// A floating-point number of four or eight bytes.
    Float(u8),
    /// Where it lies, instead of what lies there.
    Place,
    /// The text that lies there, of so many bytes at most.
    Text(u16),
    /// The text behind the pointer that lies there.
    TextBehind,
}

/// What is known without looking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Known {
    /// Nothing: the value is never there.
    Nothing,
    /// The number of the thread.
    Thread,
    /// The number of the process.
    Process(i64),
    /// Seconds since the program was begun, from the time of the clock then.
    Seconds(u64),
}

/// How to get one parameter of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Capture {
    /// It is known.
    Known(Known),
    /// It is read.
    Read(Path, Sort),
}

/// A whole number in a general register, or in memory that one points to, or the number of the thread, ready to be taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ready {
    register: u8,
    /// How many bytes are read; none if it is the register itself that counts, and [`THREAD`] if it is the thread.
    bytes: u8,
    /// How far the bits are moved up, so that nothing is above them, and then down.
    up: u8,
    down: u8,
    signed: bool,
    /// How far from where the register points.
    by: u64,
}

/// See [`Ready`].
const THREAD: u8 = u8::MAX;

impl Ready {
    /// `None` if it is not there.
    #[inline(always)]
    pub(crate) fn take(&self, general: &General, thread: u32) -> Option<i64> {
        let mut word = general[usize::from(self.register & 15)];
        if self.bytes != 0 {
            if self.bytes == THREAD {
                return Some(i64::from(thread));
            }
            word = guarded::bytes(word.wrapping_add(self.by), self.bytes.into())?;
        }
        let word = word << (self.up & 63);
        Some(if self.signed { word as i64 >> (self.down & 63) } else { (word >> (self.down & 63)) as i64 })
    }
}

/// A thread at an event.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// Its registers.
    pub general: &'a General,
    /// Its vector registers.
    pub vectors: &'a Vectors,
    /// Where its own memory is.
    pub base: u64,
    /// Its number.
    pub thread: u32,
}

impl Base {
    #[inline]
    fn address(self, moment: &Moment<'_>) -> Option<u64> {
        Some(match self {
            Base::Absolute(at) => at,
            Base::Register(number, by) => moment.general[usize::from(number & 15)].wrapping_add(by),
            Base::Thread(by) => moment.base.wrapping_add(by),
            Base::Passed(site, number, by) => {
                calls::argument(moment.thread, moment.general, site, number)?.wrapping_add(by)
            }
        })
    }
}

impl Path {
    fn address(&self, moment: &Moment<'_>) -> Option<u64> {
        let Path::Memory(base, steps) = self else { return None };
        let mut at = base.address(moment)?;
        for step in steps {
            at = guarded::word(at)?.wrapping_add(*step);
        }
        Some(at)
    }

    /// The value's bits, of which so many bytes count.
    #[inline]
    fn bits(&self, moment: &Moment<'_>, bytes: u64) -> Option<u64> {
        match self {
            Path::General(number, after) => {
                Some(moment.general[usize::from(number & 15)] >> (u32::from(*after) * 8).min(63))
            }
            Path::Vector(number, after) => {
                let [low, high] = moment.vectors[usize::from(number & 15)];
                let whole = u128::from(high) << 64 | u128::from(low);
                Some((whole >> (u32::from(*after) * 8).min(127)) as u64)
            }
            Path::Passed(site, number) => calls::argument(moment.thread, moment.general, *site, *number),
            Path::Memory(..) => guarded::bytes(self.address(moment)?, bytes),
        }
    }
}

/// The integer that some bits are, if a monitor can have it.
#[inline]
fn integer(word: u64, first: u8, count: u8, signed: bool) -> Option<i64> {
    let unused = 64 - u32::from(count.clamp(1, 64));
    let bits = word >> first.min(63) << unused;
    if signed { Some(bits as i64 >> unused) } else { i64::try_from(bits >> unused).ok() }
}

impl Capture {
    /// Whether what is read is always a whole number, if it is there.
    pub fn is_integer(&self) -> bool {
        match self {
            Capture::Known(known) => matches!(known, Known::Thread | Known::Process(_)),
            Capture::Read(_, sort) => matches!(sort, Sort::Integer { .. } | Sort::Word | Sort::Place),
        }
    }

    /// The same as [`integer`](Capture::integer) for the commonest of places and of numbers, those that are never too large.
    pub(crate) fn ready(&self) -> Option<Ready> {
        let (path, sort) = match self {
            Capture::Read(path, sort) => (path, sort),
            Capture::Known(Known::Thread) => return Some(Ready { bytes: THREAD, ..Ready::default() }),
            Capture::Known(_) => return None,
        };
        let (first, count, signed) = match *sort {
            Sort::Integer { first, count, signed } if signed || count < 64 => (first, count, signed),
            Sort::Word => (0, 64, true),
            _ => return None,
        };
        let (register, after, by, bytes) = match path {
            Path::General(number, after) => (*number, *after, 0, 0),
            Path::Memory(Base::Register(number, by), steps) if steps.is_empty() => {
                (*number, 0, *by, first.checked_add(count)?.div_ceil(8))
            }
            _ => return None,
        };
        let first = after.checked_mul(8)?.checked_add(first)?;
        let up = 64u8.checked_sub(first.checked_add(count)?)?;
        let down = 64u8.checked_sub(count).filter(|down| *down < 64)?;
        Some(Ready { register, bytes, up, down, signed, by })
    }

    /// A whole number; `None` if it is not there.
    #[inline]
    pub fn integer(&self, moment: &Moment<'_>) -> Option<i64> {
        match self {
            Capture::Known(Known::Thread) => Some(i64::from(moment.thread)),
            Capture::Known(Known::Process(number)) => Some(*number),
            Capture::Known(_) => None,
            Capture::Read(path, Sort::Integer { first, count, signed }) => {
                let word = path.bits(moment, u64::from(*first + *count).div_ceil(8))?;
                integer(word, *first, *count, *signed)
            }
            Capture::Read(path, Sort::Word) => path.bits(moment, 8).map(|word| word as i64),
            Capture::Read(path, Sort::Place) => path.address(moment).map(|at| at as i64),
            Capture::Read(..) => None,
        }
    }

    /// Whatever it is. Text goes to `text`, of which the value tells the part.
    pub fn value(
        &self,
        moment: &Moment<'_>,
        now: impl Fn() -> u64,
        text: &mut alloc::string::String,
    ) -> Value {
        let value = match self {
            Capture::Known(Known::Seconds(begun)) => {
                Some(Value::float(now().wrapping_sub(*begun) as f64 / 1e9))
            }
            Capture::Read(path, Sort::Truth(count)) => {
                let word = path.bits(moment, u64::from(*count).div_ceil(8));
                word.and_then(|word| integer(word, 0, *count, true)).map(|number| Value::bool(number != 0))
            }
            Capture::Read(path, Sort::Float(4)) => {
                path.bits(moment, 4).map(|bits| Value::float(f32::from_bits(bits as u32).into()))
            }
            Capture::Read(path, Sort::Float(_)) => {
                path.bits(moment, 8).map(|bits| Value::float(f64::from_bits(bits)))
            }
            Capture::Read(path, Sort::Text(most)) => {
                path.address(moment).and_then(|at| read_text(at, usize::from(*most), text))
            }
            Capture::Read(path, Sort::TextBehind) => {
                path.bits(moment, 8).and_then(|at| read_text(at, LONGEST, text))
            }
            _ => self.integer(moment).map(Value::int),
        };
        value.unwrap_or(Value::UNSET)
    }
}

/// Copies a text. Bytes that are not UTF-8 are replaced.
fn read_text(at: u64, most: usize, text: &mut alloc::string::String) -> Option<Value> {
    let start = text.len() as u32;
    let mut left = most.min(LONGEST);
    let mut bytes = Vec::new();
    // In small parts: most texts are short, and the stack of the program may be, too.
    let mut part = [0; 64];
    let mut at = at;
    while left > 0 {
        let room = &mut part[..left.min(64)];
        let (size, length) = (room.len(), guarded::text(at, room)?);
        bytes.extend_from_slice(&part[..length]);
        if length < size {
            break;
        }
        at = at.wrapping_add(length as u64);
        left -= length;
    }
    let lossy = alloc::string::String::from_utf8_lossy(&bytes);
    if let Some(short) = Value::short(&lossy) {
        return Some(short);
    }
    text.push_str(&lossy);
    Some(Value::text(start, lossy.len() as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use alloc::vec;

    fn general() -> General {
        core::array::from_fn(|number| 0x1122_3344_5566_7700 + number as u64)
    }

    #[test]
    fn integers_of_all_widths() {
        let general = general();
        let moment = Moment { general: &general, vectors: &[[0; 2]; 16], base: 0, thread: 7 };
        let read = |after, first, count, signed| {
            let sort = Sort::Integer { first, count, signed };
            Capture::Read(Path::General(5, after), sort).integer(&moment)
        };
        assert_eq!(read(0, 0, 8, true), Some(5));
        assert_eq!(read(1, 0, 8, true), Some(0x77));
        assert_eq!(read(0, 0, 32, true), Some(0x5566_7705));
        assert_eq!(read(0, 8, 4, true), Some(7));
        let memory: [u64; 2] = [0x8877_6655_4433_2211, 0xffee_ddcc_bbaa_9988];
        let mut pointing = general;
        pointing[5] = memory.as_ptr() as u64;
        let pointing = Moment { general: &pointing, ..moment };
        for (after, first, count, signed) in
            [(0, 0, 8, true), (1, 0, 8, true), (4, 0, 32, false), (0, 8, 4, true), (0, 0, 64, true)]
        {
            let sort = Sort::Integer { first, count, signed };
            let capture = Capture::Read(Path::General(5, after), sort);
            let ready = capture.ready().unwrap();
            assert_eq!(ready.take(&general, moment.thread), capture.integer(&moment));
            let by = u64::from(after);
            let capture = Capture::Read(Path::Memory(Base::Register(5, by), vec![]), sort);
            let ready = capture.ready().unwrap();
            assert_eq!(ready.take(pointing.general, pointing.thread), capture.integer(&pointing));
            assert!(ready.take(pointing.general, pointing.thread).is_some());
        }
        let thread = Capture::Known(Known::Thread);
        assert_eq!(thread.ready().unwrap().take(&general, 7), thread.integer(&moment));
        let too_large = Sort::Integer { first: 0, count: 64, signed: false };
        assert_eq!(Capture::Read(Path::General(5, 0), too_large).ready(), None);
        assert_eq!(integer(u64::MAX, 0, 64, true), Some(-1));
        assert_eq!(integer(u64::MAX, 0, 64, false), None);
        assert_eq!(integer(0xff, 0, 8, true), Some(-1));
        assert_eq!(integer(0xff, 4, 4, false), Some(15));
    }

    #[test]
    fn paths_texts_and_numbers() {
        let text = c"a text that is longer than what fits into a value";
        let structure: [u64; 3] = [1, text.as_ptr() as u64, f64::to_bits(2.5)];
        let mut general = general();
        general[5] = structure.as_ptr() as u64;
        let moment = Moment { general: &general, vectors: &[[0; 2]; 16], base: 0, thread: 7 };
        let mut kept = String::new();
        let mut read = |path: Path, sort| Capture::Read(path, sort).value(&moment, || 0, &mut kept).bits();
        let member = |by| Path::Memory(Base::Register(5, by), vec![]);
        assert_eq!(
            read(member(0), Sort::Integer { first: 0, count: 32, signed: true }),
            Value::int(1).bits()
        );
        assert_eq!(read(member(16), Sort::Float(8)), Value::float(2.5).bits());
        assert_eq!(read(member(0), Sort::Truth(8)), Value::bool(true).bits());
        assert_eq!(read(member(0), Sort::Place), Value::int(general[5] as i64).bits());
        let first = read(
            Path::Memory(Base::Register(5, 8), vec![0]),
            Sort::Integer { first: 0, count: 8, signed: true },
        );
        assert_eq!(first, Value::int(i64::from(b'a')).bits());
        let all = read(member(8), Sort::TextBehind);
        assert_eq!(all, Value::text(0, text.count_bytes() as u32).bits());
        assert_eq!(kept.as_bytes(), text.to_bytes());
    }
}
