//! The System V ABI for x86-64: how values are passed and returned. Used where the debug information does not specify
//! it.

use crate::machine::{ARGUMENTS, RAX, XMM0};
use crate::value::info::{DieRef, Info, Language};
use crate::value::typed_value::{Location, Piece};
use crate::value::types::{Encoding, Offset, Shape, Type};
use gimli::{AttributeValue, Register};

/// Class of eight bytes of a value, as in the ABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Unused,
    Integer,
    Vector,
    /// `long double`: in memory as an argument, in `st0` as a result.
    X87,
    Memory,
}

/// How an argument of a type is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passed {
    /// In one or two registers.
    Registers,
    /// On the stack.
    Stack,
    /// By reference: only the address is passed.
    Reference,
}

/// `rdx`, the second register for results.
const RDX: Register = Register(1);

impl Info<'_> {
    /// The classes of a value's words; `None` if it is empty, has more than two words, or is in memory.
    fn classes(self, ty: &Type) -> Option<Vec<Class>> {
        let size = self.size(ty)?;
        if size == 0 || size > 16 {
            return None;
        }
        let mut classes = vec![Class::Unused; size.div_ceil(8) as usize];
        self.classify(ty, 0, &mut classes, 16);
        let memory = classes.contains(&Class::Memory);
        (!memory).then_some(classes)
    }

    fn classify(self, ty: &Type, at: u64, classes: &mut [Class], depth: u8) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let class = match self.shape(ty) {
            Shape::Void | Shape::Function(_) => return,
            Shape::Basic(basic) if basic.encoding == Encoding::Float => match basic.size {
                16 => Class::X87,
                _ => Class::Vector,
            },
            Shape::Basic(basic) if basic.size == 0 => return,
            Shape::Basic(_) | Shape::Pointer(_) | Shape::Reference(_) | Shape::Enumeration(_) => {
                Class::Integer
            }
            Shape::Array(element, count) => {
                let size = self.size(&element).unwrap_or(1).max(1);
                for i in 0..count.unwrap_or(0).min(16) {
                    self.classify(&element, at + i * size, classes, depth);
                }
                return;
            }
            Shape::Record(record) => {
                for member in self.members(record) {
                    match member.offset {
                        Offset::Fixed(offset) => self.classify(&member.ty, at + offset, classes, depth),
                        Offset::Computed(_) => classes.fill(Class::Memory),
                    }
                }
                for (_, member) in self.variants(record).into_iter().flat_map(|v| {
                    let discriminant = v.discriminant.map(|member| (None, member));
                    v.all.into_iter().chain(discriminant)
                }) {
                    if let Offset::Fixed(offset) = member.offset {
                        self.classify(&member.ty, at + offset, classes, depth);
                    }
                }
                return;
            }
            Shape::Unknown => Class::Memory,
        };
        let size = self.size(ty).unwrap_or(8).max(1);
        for word in at / 8..=(at + size - 1) / 8 {
            if let Some(merged) = classes.get_mut(word as usize) {
                *merged = match (*merged, class) {
                    (Class::Unused, class) => class,
                    (merged, class) if merged == class => merged,
                    (Class::Memory, _) | (_, Class::Memory) => Class::Memory,
                    (Class::Integer, _) | (_, Class::Integer) => Class::Integer,
                    _ => Class::Memory,
                };
            }
        }
    }

    /// The parts of a value that is passed in registers: the size of each part, and its class.
    fn layout(self, ty: &Type) -> Option<Vec<(u64, Class)>> {
        let size = self.size(ty)?;
        let is_aggregate = matches!(self.shape(ty), Shape::Record(_) | Shape::Array(..));
        if is_aggregate && self.language_of_type(ty) == Language::Rust {
            return self.rust_layout(ty, size);
        }
        let classes = self.classes(ty)?;
        Some(classes.iter().enumerate().map(|(i, class)| ((size - 8 * i as u64).min(8), *class)).collect())
    }

    /// Rust passes a pair of scalars in two registers, however small they are, and other small values as integers.
    fn rust_layout(self, ty: &Type, size: u64) -> Option<Vec<(u64, Class)>> {
        if size == 0 || size > 16 {
            return None;
        }
        let mut scalars = Vec::new();
        let is_simple = self.scalars(ty, 0, &mut scalars, 16).is_some();
        scalars.sort_by_key(|(at, _)| *at);
        scalars.dedup();
        match scalars.as_slice() {
            [(0, class)] if is_simple => Some(vec![(size, *class)]),
            [(0, first), (at, second)] if is_simple && *at > 0 && *at <= 8 => {
                Some(vec![(*at, *first), (size - at, *second)])
            }
            _ => Some((0..size.div_ceil(8)).map(|i| ((size - 8 * i).min(8), Class::Integer)).collect()),
        }
    }

    /// Offsets and classes of the scalars in a Rust value. Empty if it does not consist of a few scalars.
    fn scalars(self, ty: &Type, at: u64, found: &mut Vec<(u64, Class)>, depth: u8) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match self.shape(ty) {
            Shape::Basic(basic) if basic.size == 0 => {}
            Shape::Basic(basic) if basic.size > 8 => return None,
            Shape::Basic(basic) if basic.encoding == Encoding::Float => found.push((at, Class::Vector)),
            Shape::Array(_, Some(0)) | Shape::Void => {}
            Shape::Array(..) | Shape::Unknown | Shape::Function(_) => return None,
            Shape::Record(record) => {
                let variants = self.variants(record);
                let parts = variants.iter().flat_map(|variants| {
                    variants.all.iter().map(|(_, member)| member).chain(&variants.discriminant)
                });
                for member in self.members(record).iter().chain(parts) {
                    let Offset::Fixed(offset) = member.offset else { return None };
                    self.scalars(&member.ty, at + offset, found, depth)?;
                }
            }
            _ => found.push((at, Class::Integer)),
        }
        Some(())
    }

    /// How a value of a type is passed as an argument.
    pub(crate) fn passed(self, ty: &Type) -> Passed {
        let shape = self.shape(ty);
        if let Shape::Record(record) = shape
            && self.is_passed_by_reference(record)
        {
            return Passed::Reference;
        }
        let is_large = self.size(ty).is_some_and(|size| size > 16);
        if is_large
            && matches!(shape, Shape::Record(_) | Shape::Array(..))
            && self.language_of_type(ty) == Language::Rust
        {
            return Passed::Reference;
        }
        match self.layout(ty) {
            Some(parts) if !parts.iter().any(|(_, class)| *class == Class::X87) => Passed::Registers,
            _ => Passed::Stack,
        }
    }

    /// C++ objects that are not trivially copyable are passed by reference.
    fn is_passed_by_reference(self, record: DieRef) -> bool {
        let convention =
            self.entry(record).and_then(|entry| entry.attribute(gimli::DW_AT_calling_convention));
        matches!(convention, Some(AttributeValue::CallingConvention(gimli::DW_CC_pass_by_reference)))
    }

    /// Whether a result of this type is returned in memory whose address the caller passes in a hidden first argument.
    pub(crate) fn is_returned_in_memory(self, ty: &Type) -> bool {
        match self.shape(ty) {
            Shape::Void => false,
            Shape::Record(record) if self.is_passed_by_reference(record) => true,
            _ => self.size(ty).is_some_and(|size| size > 0) && self.layout(ty).is_none(),
        }
    }

    /// The location of a function's result when it returns.
    pub(crate) fn returned_in(self, ty: &Type) -> Location {
        if self.is_returned_in_memory(ty) {
            return Location::Register { number: RAX, offset: 0, frame: 0 };
        }
        let parts = self.layout(ty).unwrap_or_default();
        if parts.first().is_some_and(|(_, class)| *class == Class::X87) {
            return Location::Register { number: Register(33), offset: 0, frame: 0 };
        }
        let mut integers = [RAX, RDX].into_iter();
        let mut vectors = [XMM0, Register(XMM0.0 + 1)].into_iter();
        in_registers(&parts, &mut integers, &mut vectors).unwrap_or(Location::Bytes([].into()))
    }
}

/// Allocator of argument locations.
pub(crate) struct Arguments {
    integers: std::vec::IntoIter<Register>,
    vectors: std::vec::IntoIter<Register>,
    stack: u64,
}

impl Arguments {
    /// Starts with the first argument; `stack` is the address of the first one on the stack. `hidden` means that the
    /// first integer register holds the address for the result.
    pub(crate) fn new(stack: u64, hidden: bool) -> Self {
        let mut integers = ARGUMENTS.to_vec().into_iter();
        if hidden {
            integers.next();
        }
        let vectors = (0..8).map(|n| Register(XMM0.0 + n)).collect::<Vec<_>>().into_iter();
        Self { integers, vectors, stack }
    }

    /// The location of the next argument, and whether that location holds only its address. `by_address` means that the
    /// caller knows the latter already.
    pub(crate) fn next(&mut self, info: Info<'_>, ty: &Type, by_address: bool) -> (Location, bool) {
        let size = info.size(ty).unwrap_or(8);
        match if by_address { Passed::Reference } else { info.passed(ty) } {
            Passed::Reference => match self.integers.next() {
                Some(number) => (Location::Register { number, offset: 0, frame: 0 }, true),
                None => (self.on_stack(8, 8), true),
            },
            Passed::Registers => {
                let parts = info.layout(ty).unwrap_or_default();
                let (mut integers, mut vectors) = (self.integers.clone(), self.vectors.clone());
                match in_registers(&parts, &mut integers, &mut vectors) {
                    Some(location) => {
                        self.integers = integers;
                        self.vectors = vectors;
                        (location, false)
                    }
                    // An argument is never split: if it does not fit, the remaining registers are left to the next
                    // ones.
                    None => (self.on_stack(size, 8), false),
                }
            }
            Passed::Stack if size == 0 => (Location::Bytes([].into()), false),
            Passed::Stack => {
                let alignment = if info.classes(ty).is_some() { 16 } else { 8 };
                (self.on_stack(size, alignment), false)
            }
        }
    }

    fn on_stack(&mut self, size: u64, alignment: u64) -> Location {
        let at = self.stack.next_multiple_of(alignment);
        self.stack = at.wrapping_add(size.next_multiple_of(8));
        Location::Memory(at)
    }
}

fn in_registers(
    parts: &[(u64, Class)],
    integers: &mut dyn Iterator<Item = Register>,
    vectors: &mut dyn Iterator<Item = Register>,
) -> Option<Location> {
    let mut pieces = Vec::with_capacity(2);
    for (size, class) in parts {
        let number = match class {
            Class::Vector | Class::Unused => vectors.next()?,
            _ => integers.next()?,
        };
        pieces.push(Piece { location: Location::Register { number, offset: 0, frame: 0 }, size: *size });
    }
    match <[Piece; 1]>::try_from(pieces) {
        Ok([only]) => Some(only.location),
        Err(several) => Some(Location::Pieces(several.into())),
    }
}

/// The location of an integer argument (counted from 0) of a function without debug information.
pub(crate) fn integer_argument(number: usize, stack: u64) -> Location {
    match ARGUMENTS.get(number) {
        Some(register) => Location::Register { number: *register, offset: 0, frame: 0 },
        None => Location::Memory(stack.wrapping_add(8 * (number - ARGUMENTS.len()) as u64)),
    }
}
