//! Typed values of a stopped program. They refer to their location; nothing is read before it is needed.

use crate::value::types::{Bits, Type};
use gimli::Register;
use std::fmt;
use std::sync::Arc;

/// A value with its type and location.
#[derive(Clone, Debug, PartialEq)]
pub struct TypedValue {
    /// The type.
    pub ty: Type,
    /// The location.
    pub location: Location,
    /// The bits within the location, if it is a bit-field.
    pub bits: Option<Bits>,
}

/// Location of a value, in the sense of DWARF.
#[derive(Clone, Debug, PartialEq)]
pub enum Location {
    /// In memory, at an address.
    Memory(u64),
    /// In a register.
    Register {
        /// Its DWARF number.
        number: Register,
        /// Offset of the first byte in the register.
        offset: u64,
        /// Frame in which the register is read; 0 is the innermost.
        frame: usize,
    },
    /// Distributed over several locations, lowest bytes first.
    Pieces(Arc<[Piece]>),
    /// No location, but known bytes: a constant or a computed value.
    Bytes(Arc<[u8]>),
    /// No value, with the reason.
    Unavailable(Unavailable),
}

/// Part of a value that is distributed over several locations.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// The location.
    pub location: Location,
    /// The size in bytes.
    pub size: u64,
}

/// Reason why a value cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// Optimised out, here or everywhere.
    OptimizedOut,
    /// The function has not set up its frame.
    NotYet,
    /// The memory at an address cannot be read.
    Unreadable(u64),
    /// The value of a register is unknown in this frame.
    NoRegister(u16),
    /// The value is in the caller's frame, and the caller is unknown.
    NoCaller,
    /// The target of the pointer is optimised out.
    ImplicitPointer,
    /// The thread-local storage of this library is not allocated or cannot be found.
    ThreadLocal,
    /// Division by zero.
    DivisionByZero,
    /// Declared, but not defined in any unit with debug information.
    DeclaredOnly,
    /// The debug information is malformed or not supported.
    NotUnderstood,
    /// A struct or array, not a single value.
    Composite,
    /// An integer that does not fit into `i64`.
    TooLarge,
    /// The function returns nothing.
    NoResult,
    /// An index or a number of elements is out of range.
    OutOfRange,
    /// The member belongs to a variant of a Rust enumeration that is not active.
    InactiveVariant,
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unavailable::OptimizedOut => f.write_str("optimized out"),
            Unavailable::NotYet => f.write_str("not available before the end of the prologue"),
            Unavailable::Unreadable(address) => write!(f, "cannot read memory at {address:#x}"),
            Unavailable::NoRegister(number) => {
                write!(f, "{} is unknown in this frame", register_name(*number))
            }
            Unavailable::NoCaller => f.write_str("the caller is unknown"),
            Unavailable::ImplicitPointer => f.write_str("its target is optimized out"),
            Unavailable::ThreadLocal => {
                f.write_str("the thread-local storage of this library cannot be found")
            }
            Unavailable::DivisionByZero => f.write_str("division by zero"),
            Unavailable::DeclaredOnly => {
                f.write_str("declared, but not defined in any unit with debug information")
            }
            Unavailable::NotUnderstood => f.write_str("its debug information is malformed or not supported"),
            Unavailable::Composite => f.write_str("a struct or array is not a single value"),
            Unavailable::TooLarge => f.write_str("does not fit into a signed 64-bit integer"),
            Unavailable::NoResult => f.write_str("the function returns nothing"),
            Unavailable::OutOfRange => f.write_str("an index or a number of elements is out of range"),
            Unavailable::InactiveVariant => f.write_str("the enumeration has another variant"),
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

/// The DWARF number of a register by its name, and the number of bytes that the name denotes.
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

impl Location {
    /// The location at an offset of `by` bytes.
    pub(crate) fn at(&self, by: u64, size: Option<u64>) -> Location {
        match self {
            Location::Memory(address) => Location::Memory(address.wrapping_add(by)),
            Location::Register { number, offset, frame } => {
                Location::Register { number: *number, offset: offset.saturating_add(by), frame: *frame }
            }
            Location::Bytes(bytes) => {
                let from = usize::try_from(by).unwrap_or(usize::MAX).min(bytes.len());
                Location::Bytes(bytes.get(from..).unwrap_or(&[]).into())
            }
            Location::Pieces(pieces) => part(pieces, by, size),
            Location::Unavailable(reason) => Location::Unavailable(*reason),
        }
    }
}

/// The pieces that cover a range of the whole.
fn part(pieces: &[Piece], by: u64, size: Option<u64>) -> Location {
    let end = size.map_or(u64::MAX, |size| by.saturating_add(size));
    let mut wanted = Vec::new();
    let mut start = 0u64;
    for piece in pieces {
        let stop = start.saturating_add(piece.size);
        let (from, to) = (start.max(by), stop.min(end));
        if from < to {
            wanted
                .push(Piece { location: piece.location.at(from - start, Some(to - from)), size: to - from });
        }
        start = stop;
    }
    match <[Piece; 1]>::try_from(wanted) {
        Ok([only]) => only.location,
        Err(several) => Location::Pieces(several.into()),
    }
}

impl TypedValue {
    /// A value with known bytes.
    pub(crate) fn known(ty: Type, bytes: &[u8]) -> Self {
        Self { ty, location: Location::Bytes(bytes.into()), bits: None }
    }

    /// A value at a location.
    pub(crate) fn new(ty: Type, location: Location) -> Self {
        Self { ty, location, bits: None }
    }

    /// An unavailable value.
    pub(crate) fn none(ty: Type, reason: Unavailable) -> Self {
        Self::new(ty, Location::Unavailable(reason))
    }

    /// Why the value is unavailable, if this is known before reading it.
    pub fn unavailable_reason(&self) -> Option<Unavailable> {
        match &self.location {
            Location::Unavailable(reason) => Some(*reason),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn register_names_map_to_dwarf_numbers() {
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
    fn location_at_offset_selects_pieces() {
        let piece = |address, size| Piece { location: Location::Memory(address), size };
        let whole = Location::Pieces([piece(100, 4), piece(200, 8)].into());
        assert_eq!(whole.at(4, Some(4)), Location::Memory(200));
        assert_eq!(whole.at(8, Some(4)), Location::Memory(204));
        assert_eq!(whole.at(2, Some(4)), Location::Pieces([piece(102, 2), piece(200, 2)].into()));
    }
}
