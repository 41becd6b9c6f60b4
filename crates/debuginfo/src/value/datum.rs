//! Values of a stopped program, where they are: nothing is read before it is needed.

use crate::value::types::{Bits, Type};
use gimli::Register;
use std::fmt;
use std::sync::Arc;

/// A value: its type, and where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Datum {
    /// Its type.
    pub ty: Type,
    /// Where it is.
    pub place: Place,
    /// Which bits of what is there, if it is a bit-field.
    pub bits: Option<Bits>,
}

/// Where a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// In memory, at an address.
    Memory(u64),
    /// In a register.
    Register {
        /// Its DWARF number.
        number: Register,
        /// The first of its bytes.
        offset: u64,
        /// The frame in which the register is meant: 0 is the innermost.
        frame: usize,
    },
    /// In several places, the lowest bytes first.
    Pieces(Arc<[Piece]>),
    /// Nowhere, but known: a constant, or computed.
    Bytes(Arc<[u8]>),
    /// Nowhere, or out of reach.
    Unavailable(Unavailable),
}

/// A part of a value that is in several places.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Where it is.
    pub place: Place,
    /// How many bytes.
    pub size: u64,
}

/// Why there is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// The compiler left it out, here or everywhere.
    OptimizedOut,
    /// The function has not yet made its frame.
    NotYet,
    /// The memory at an address cannot be read.
    Unreadable(u64),
    /// The contents of a register are not known in this frame.
    NoRegister(u16),
    /// The caller, in whose frame it would be, is not known.
    NoCaller,
    /// The compiler left out what a pointer points to.
    ImplicitPointer,
    /// Thread-local storage of this library is not there, or cannot be found.
    ThreadLocal,
    /// It is divided by zero.
    DivisionByZero,
    /// It is declared, but no unit with debug information defines it.
    DeclaredOnly,
    /// The debug information cannot be understood here.
    NotUnderstood,
    /// It is of a kind that is no single value: a struct, an array.
    Composite,
    /// It is an integer that 64 bits with a sign cannot hold.
    TooLarge,
    /// The function returns nothing.
    NoResult,
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unavailable::OptimizedOut => f.write_str("optimized out"),
            Unavailable::NotYet => f.write_str("not there before the end of the prologue"),
            Unavailable::Unreadable(address) => write!(f, "cannot read memory at {address:#x}"),
            Unavailable::NoRegister(number) => write!(f, "{} is not known here", register_name(*number)),
            Unavailable::NoCaller => f.write_str("the caller is not known"),
            Unavailable::ImplicitPointer => f.write_str("points to something optimized out"),
            Unavailable::ThreadLocal => f.write_str("thread-local storage of this library is not known"),
            Unavailable::DivisionByZero => f.write_str("division by zero"),
            Unavailable::DeclaredOnly => f.write_str("declared, but not defined where debug information is"),
            Unavailable::NotUnderstood => f.write_str("its debug information is not understood"),
            Unavailable::Composite => f.write_str("a whole struct or array is no single value"),
            Unavailable::TooLarge => f.write_str("too large for an integer of 64 bits with a sign"),
            Unavailable::NoResult => f.write_str("the function returns nothing"),
        }
    }
}

const GENERAL: [&str; 17] = [
    "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
    "r15", "rip",
];

/// The name of a register by its DWARF number.
pub fn register_name(number: u16) -> String {
    match (GENERAL.get(usize::from(number)), number) {
        (Some(name), _) => (*name).to_owned(),
        (None, 17..=32) => format!("xmm{}", number - 17),
        (None, 33..=40) => format!("st{}", number - 33),
        _ => format!("register {number}"),
    }
}

/// The DWARF number of a register by its name, and how many of its bytes the name means.
pub(crate) fn register_number(name: &str) -> Option<(Register, u64)> {
    let name = name.to_ascii_lowercase();
    let number = |at: usize| Register(at as u16);
    let alias = match name.as_str() {
        "pc" => "rip",
        "sp" => "rsp",
        "fp" => "rbp",
        other => other,
    };
    if let Some(at) = GENERAL.iter().position(|general| *general == alias) {
        return Some((number(at), 8));
    }
    if let Some(at) = name.strip_prefix("xmm").and_then(|digits| digits.parse::<usize>().ok()) {
        return (at < 16).then(|| (number(at + 17), 16));
    }
    // `eax`, `ax`, `al`, `r8d`, `r8w`, `r8b`
    if let Some(rest) = name.strip_prefix('e') {
        return register_number(&format!("r{rest}")).filter(|(r, _)| r.0 < 8).map(|(r, _)| (r, 4));
    }
    if let Some((base, size)) = name
        .strip_suffix('d')
        .map(|b| (b, 4))
        .or(name.strip_suffix('w').map(|b| (b, 2)))
        .or(name.strip_suffix('b').map(|b| (b, 1)))
        && base.starts_with('r')
        && let Some((register, 8)) = register_number(base)
        && register.0 >= 8
    {
        return Some((register, size));
    }
    match name.as_str() {
        "ax" | "bx" | "cx" | "dx" | "si" | "di" | "bp" => {
            register_number(&format!("r{name}")).map(|(r, _)| (r, 2))
        }
        "al" | "bl" | "cl" | "dl" => register_number(&format!("r{}x", name.get(..1)?)).map(|(r, _)| (r, 1)),
        "sil" | "dil" | "bpl" | "spl" => {
            register_number(&format!("r{}", name.get(..2)?)).map(|(r, _)| (r, 1))
        }
        _ => None,
    }
}

impl Place {
    /// What begins some bytes further on.
    pub(crate) fn at(&self, by: u64, size: Option<u64>) -> Place {
        match self {
            Place::Memory(address) => Place::Memory(address.wrapping_add(by)),
            Place::Register { number, offset, frame } => {
                Place::Register { number: *number, offset: offset.saturating_add(by), frame: *frame }
            }
            Place::Bytes(bytes) => {
                let from = usize::try_from(by).unwrap_or(usize::MAX).min(bytes.len());
                Place::Bytes(bytes.get(from..).unwrap_or(&[]).into())
            }
            Place::Pieces(pieces) => part(pieces, by, size),
            Place::Unavailable(reason) => Place::Unavailable(*reason),
        }
    }
}

/// The pieces that make up some bytes of a whole.
fn part(pieces: &[Piece], by: u64, size: Option<u64>) -> Place {
    let end = size.map_or(u64::MAX, |size| by.saturating_add(size));
    let mut wanted = Vec::new();
    let mut start = 0u64;
    for piece in pieces {
        let stop = start.saturating_add(piece.size);
        let (from, to) = (start.max(by), stop.min(end));
        if from < to {
            wanted.push(Piece { place: piece.place.at(from - start, Some(to - from)), size: to - from });
        }
        start = stop;
    }
    match <[Piece; 1]>::try_from(wanted) {
        Ok([only]) => only.place,
        Err(several) => Place::Pieces(several.into()),
    }
}

impl Datum {
    /// A value that is known.
    pub(crate) fn known(ty: Type, bytes: &[u8]) -> Self {
        Self { ty, place: Place::Bytes(bytes.into()), bits: None }
    }

    /// A value somewhere.
    pub(crate) fn new(ty: Type, place: Place) -> Self {
        Self { ty, place, bits: None }
    }

    /// No value.
    pub(crate) fn none(ty: Type, reason: Unavailable) -> Self {
        Self::new(ty, Place::Unavailable(reason))
    }

    /// Why there is no value, if that is known before it is read.
    pub fn unavailable(&self) -> Option<Unavailable> {
        match &self.place {
            Place::Unavailable(reason) => Some(*reason),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_have_their_names() {
        for number in 0..33 {
            assert_eq!(register_number(&register_name(number)).unwrap().0, Register(number));
        }
        assert_eq!(register_number("eax"), Some((Register(0), 4)));
        assert_eq!(register_number("r10d"), Some((Register(10), 4)));
        assert_eq!(register_number("dil"), Some((Register(5), 1)));
        assert_eq!(register_number("cl"), Some((Register(2), 1)));
        assert_eq!(register_number("bx"), Some((Register(3), 2)));
        assert_eq!(register_number("pc"), Some((Register(16), 8)));
        assert_eq!(register_number("nonsense"), None);
    }

    #[test]
    fn parts_of_pieces_are_found() {
        let piece = |address, size| Piece { place: Place::Memory(address), size };
        let whole = Place::Pieces([piece(100, 4), piece(200, 8)].into());
        assert_eq!(whole.at(4, Some(4)), Place::Memory(200));
        assert_eq!(whole.at(8, Some(4)), Place::Memory(204));
        assert_eq!(whole.at(2, Some(4)), Place::Pieces([piece(102, 2), piece(200, 2)].into()));
    }
}
