//! Types, read from the debug information when they are needed.

use crate::value::info::{DieRef, Entry, Info, Language};
use gimli::{AttributeValue, DwAte};
use std::sync::Arc;

/// Maximum length of a chain of type names; malformed files may contain cycles.
const MAX_CHAIN_LEN: usize = 32;

/// A type: described by the program, or constructed by an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// No type: `void`.
    Void,
    /// Type of a computed number.
    Basic(Basic),
    /// A type in the debug information.
    Described(DieRef),
    /// A pointer to something.
    Pointer(Arc<Type>),
    /// An array, with its length if it is known.
    Array(Arc<Type>, Option<u64>),
}

/// A type without parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Basic {
    /// The name in the language.
    pub name: &'static str,
    /// The interpretation of its bytes.
    pub encoding: Encoding,
    /// The size in bytes.
    pub size: u64,
}

/// Interpretation of the bytes of a basic type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// A signed integer.
    Signed,
    /// An unsigned integer.
    Unsigned,
    /// A `char` of C, which is also a small integer.
    Char {
        /// Whether it is signed.
        signed: bool,
    },
    /// A Unicode character: `char32_t` of C++, `char` of Rust.
    Unicode,
    /// An address, as in a pointer.
    Address,
    /// A Boolean.
    Bool,
    /// A floating-point number.
    Float,
    /// Anything else.
    Other,
}

impl Basic {
    /// C's `int`.
    pub(crate) const INT: Basic = Basic { name: "int", encoding: Encoding::Signed, size: 4 };
    /// C's `char`.
    pub(crate) const CHAR: Basic = Basic { name: "char", encoding: Encoding::Char { signed: true }, size: 1 };
    /// The type of comparisons.
    pub(crate) const BOOL: Basic = Basic { name: "bool", encoding: Encoding::Bool, size: 1 };
    /// C's `double`.
    pub(crate) const DOUBLE: Basic = Basic { name: "double", encoding: Encoding::Float, size: 8 };
    /// C's `long`.
    pub(crate) const LONG: Basic = Basic { name: "long", encoding: Encoding::Signed, size: 8 };
    /// C's `unsigned long`.
    pub(crate) const UNSIGNED_LONG: Basic =
        Basic { name: "unsigned long", encoding: Encoding::Unsigned, size: 8 };

    /// The type of the value of a pointer.
    pub(crate) const ADDRESS: Basic = Basic { name: "unsigned long", encoding: Encoding::Address, size: 8 };

    /// The integer type with a width and signedness.
    pub(crate) fn integer(width: u8, signed: bool) -> Basic {
        let name = match (width, signed) {
            (..=32, true) => return Basic::INT,
            (..=32, false) => "unsigned int",
            (..=64, true) => return Basic::LONG,
            (..=64, false) => return Basic::UNSIGNED_LONG,
            (_, true) => "__int128",
            (_, false) => "unsigned __int128",
        };
        let encoding = if signed { Encoding::Signed } else { Encoding::Unsigned };
        Basic { name, encoding, size: u64::from(width.max(32)).div_ceil(8) }
    }

    /// The built-in type with a name in C or Rust.
    pub(crate) fn by_name(name: &str) -> Option<Basic> {
        use Encoding::{Bool, Char, Float, Signed, Unicode, Unsigned};
        let mut words: Vec<&str> = name.split(' ').filter(|word| *word != "const").collect();
        let builtin = |name, encoding, size| Some(Basic { name, encoding, size });
        if let [one] = words.as_slice() {
            match *one {
                "u8" => return builtin("u8", Unsigned, 1),
                "u16" => return builtin("u16", Unsigned, 2),
                "u32" => return builtin("u32", Unsigned, 4),
                "u64" => return builtin("u64", Unsigned, 8),
                "u128" => return builtin("u128", Unsigned, 16),
                "usize" => return builtin("usize", Unsigned, 8),
                "i8" => return builtin("i8", Signed, 1),
                "i16" => return builtin("i16", Signed, 2),
                "i32" => return builtin("i32", Signed, 4),
                "i64" => return builtin("i64", Signed, 8),
                "i128" => return builtin("i128", Signed, 16),
                "isize" => return builtin("isize", Signed, 8),
                "f32" => return builtin("f32", Float, 4),
                "f64" => return builtin("f64", Float, 8),
                "bool" | "_Bool" => return builtin("bool", Bool, 1),
                "char" => return Some(Basic::CHAR),
                "float" => return builtin("float", Float, 4),
                "double" => return Some(Basic::DOUBLE),
                "char16_t" => return builtin("char16_t", Unicode, 2),
                "char32_t" => return builtin("char32_t", Unicode, 4),
                "uint8_t" => return builtin("uint8_t", Unsigned, 1),
                "uint16_t" => return builtin("uint16_t", Unsigned, 2),
                "uint32_t" => return builtin("uint32_t", Unsigned, 4),
                "uint64_t" => return builtin("uint64_t", Unsigned, 8),
                "int8_t" => return builtin("int8_t", Signed, 1),
                "int16_t" => return builtin("int16_t", Signed, 2),
                "int32_t" => return builtin("int32_t", Signed, 4),
                "int64_t" => return builtin("int64_t", Signed, 8),
                "size_t" | "uintptr_t" => return Some(Basic::UNSIGNED_LONG),
                "ssize_t" | "intptr_t" | "ptrdiff_t" => return Some(Basic::LONG),
                _ => {}
            }
        }
        let unsigned = words.contains(&"unsigned");
        let signed = words.contains(&"signed");
        words.retain(|word| !matches!(*word, "unsigned" | "signed"));
        let encoding = if unsigned { Unsigned } else { Signed };
        match words.as_slice() {
            ["char"] if unsigned => builtin("unsigned char", Char { signed: false }, 1),
            ["char"] if signed => builtin("signed char", Char { signed: true }, 1),
            ["short"] | ["short", "int"] => {
                builtin(if unsigned { "unsigned short" } else { "short" }, encoding, 2)
            }
            ["int"] => Some(Basic::integer(32, !unsigned)),
            [] if unsigned || signed => Some(Basic::integer(32, !unsigned)),
            ["long"] | ["long", "int"] | ["long", "long"] | ["long", "long", "int"] => {
                Some(Basic::integer(64, !unsigned))
            }
            ["__int128"] => Some(Basic::integer(128, !unsigned)),
            ["long", "double"] => builtin("long double", Float, 16),
            _ => None,
        }
    }
}

/// Structure of a type, with typedefs and qualifiers removed.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// `void`.
    Void,
    /// A number, a character, a truth value.
    Basic(Basic),
    /// A pointer.
    Pointer(Type),
    /// A C++ reference.
    Reference(Type),
    /// A struct, class or union.
    Record(DieRef),
    /// An enumeration.
    Enumeration(DieRef),
    /// An array.
    Array(Type, Option<u64>),
    /// A function.
    Function(DieRef),
    /// Not described, or not supported.
    Unknown,
}

/// Bit range of a bit-field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    /// The first bit, counted from the least significant bit of the first byte.
    pub first: u64,
    /// The number of bits.
    pub count: u64,
}

/// A member of a record.
#[derive(Clone, Debug)]
pub struct Member {
    /// The name; `None` for an anonymous struct or union.
    pub name: Option<&'static str>,
    /// The type.
    pub ty: Type,
    /// The offset in the record.
    pub offset: Offset,
    /// The bits, if it is a bit-field, counted from the byte at `offset`.
    pub bits: Option<Bits>,
    /// Whether it is a base class.
    pub is_base: bool,
}

/// Offset of a member in its record.
#[derive(Clone, Copy, Debug)]
pub enum Offset {
    /// A constant number of bytes.
    Fixed(u64),
    /// Stored in the object itself, for a virtual base class; the entry has the rule.
    Computed(DieRef),
}

/// The variants of a Rust enumeration.
#[derive(Clone, Debug)]
pub struct Variants {
    /// The discriminant; `None` if there is only one variant.
    pub discriminant: Option<Member>,
    /// The variants with their discriminant values; `None` stands for all other values.
    pub all: Vec<(Option<u128>, Member)>,
}

impl<'a> Info<'a> {
    /// The type that an entry refers to; `void` if it refers to none.
    pub(crate) fn type_of(self, entry: &Entry) -> Type {
        match self.reference(entry, gimli::DW_AT_type) {
            Some(at) => Type::Described(at),
            None => Type::Void,
        }
    }

    /// The structure of a type, with typedefs and qualifiers removed.
    pub(crate) fn shape(self, ty: &Type) -> Shape {
        match ty {
            Type::Void => Shape::Void,
            Type::Basic(basic) => Shape::Basic(*basic),
            Type::Pointer(target) => Shape::Pointer((**target).clone()),
            Type::Array(element, count) => Shape::Array((**element).clone(), *count),
            Type::Described(at) => self.described_shape(*at).unwrap_or(Shape::Unknown),
        }
    }

    /// The entry of a type without typedefs and qualifiers; the definition if it is only declared.
    pub(crate) fn bare_entry(self, at: DieRef) -> Option<Option<Entry>> {
        let mut entry = self.entry(at)?;
        for _ in 0..MAX_CHAIN_LEN {
            match entry.tag() {
                gimli::DW_TAG_typedef
                | gimli::DW_TAG_const_type
                | gimli::DW_TAG_volatile_type
                | gimli::DW_TAG_restrict_type
                | gimli::DW_TAG_atomic_type
                | gimli::DW_TAG_immutable_type
                | gimli::DW_TAG_packed_type
                | gimli::DW_TAG_shared_type => match self.reference(&entry, gimli::DW_AT_type) {
                    Some(next) => entry = self.entry(next)?,
                    None => return Some(None),
                },
                _ if entry.flag(gimli::DW_AT_declaration) => {
                    let definition = self.name(&entry).and_then(|name| {
                        self.types.definition(self, entry.at, entry.tag(), name).and_then(|at| self.entry(at))
                    });
                    return Some(Some(definition.unwrap_or(entry)));
                }
                _ => return Some(Some(entry)),
            }
        }
        None
    }

    fn described_shape(self, at: DieRef) -> Option<Shape> {
        let Some(entry) = self.bare_entry(at)? else { return Some(Shape::Void) };
        Some(match entry.tag() {
            gimli::DW_TAG_base_type => Shape::Basic(self.basic(&entry)),
            gimli::DW_TAG_pointer_type => Shape::Pointer(self.type_of(&entry)),
            gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type => {
                Shape::Reference(self.type_of(&entry))
            }
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                Shape::Record(entry.at)
            }
            gimli::DW_TAG_enumeration_type => Shape::Enumeration(entry.at),
            gimli::DW_TAG_array_type => self.array(&entry),
            gimli::DW_TAG_subroutine_type | gimli::DW_TAG_subprogram => Shape::Function(entry.at),
            // `decltype(nullptr)`
            gimli::DW_TAG_unspecified_type
                if self.name(&entry).is_some_and(|name| name.contains("nullptr")) =>
            {
                Shape::Pointer(Type::Void)
            }
            gimli::DW_TAG_unspecified_type => Shape::Void,
            _ => Shape::Unknown,
        })
    }

    fn basic(self, entry: &Entry) -> Basic {
        let name = self.name(entry).unwrap_or("?");
        let encoding = match entry.attribute(gimli::DW_AT_encoding) {
            Some(AttributeValue::Encoding(encoding)) => encoding_of(encoding),
            _ => Encoding::Other,
        };
        let size = entry.unsigned(gimli::DW_AT_byte_size).unwrap_or(0);
        // Rust's `()` and `!` are base types of size 0.
        Basic { name, encoding, size }
    }

    /// Dimensions are children of one entry, outermost first.
    fn array(self, entry: &Entry) -> Shape {
        let mut element = self.type_of(entry);
        let mut counts: Vec<Option<u64>> =
            self.children(entry.at).iter().filter_map(|child| self.count(child)).collect();
        if counts.is_empty() {
            counts.push(None);
        }
        for count in counts.iter().skip(1).rev() {
            element = Type::Array(Arc::new(element), *count);
        }
        Shape::Array(element, counts.first().copied().flatten())
    }

    /// The number of elements if the entry is a dimension; the inner `None` stands for an unknown number.
    fn count(self, child: &Entry) -> Option<Option<u64>> {
        if child.tag() == gimli::DW_TAG_enumeration_type {
            return Some(Some(self.children(child.at).len() as u64));
        }
        if child.tag() != gimli::DW_TAG_subrange_type {
            return None;
        }
        if let Some(count) = child.unsigned(gimli::DW_AT_count) {
            return Some(Some(count));
        }
        let lower = child.signed(gimli::DW_AT_lower_bound).unwrap_or(0);
        // An empty array has the upper bound -1, in a form of any size.
        Some(match child.attribute(gimli::DW_AT_upper_bound) {
            Some(AttributeValue::Exprloc(_)) | None => None,
            Some(value) => match value.sdata_value() {
                Some(-1) => Some(0),
                Some(upper) if upper >= 0 => Some(upper.wrapping_sub(lower).wrapping_add(1) as u64),
                _ => value.udata_value().map(|upper| upper.wrapping_add(1)),
            },
        })
    }

    /// The size of a type in bytes, if it is known.
    pub(crate) fn size(self, ty: &Type) -> Option<u64> {
        self.size_within(ty, MAX_CHAIN_LEN)
    }

    fn size_within(self, ty: &Type, depth: usize) -> Option<u64> {
        let depth = depth.checked_sub(1)?;
        match self.shape(ty) {
            Shape::Void | Shape::Function(_) => Some(1),
            Shape::Basic(basic) => Some(basic.size),
            Shape::Pointer(_) => match ty {
                Type::Described(at) => {
                    let entry = self.bare_entry(*at).flatten();
                    Some(entry.and_then(|entry| entry.unsigned(gimli::DW_AT_byte_size)).unwrap_or(8))
                }
                _ => Some(8),
            },
            Shape::Reference(_) => Some(8),
            Shape::Record(at) | Shape::Enumeration(at) => {
                let entry = self.entry(at)?;
                let own = entry.unsigned(gimli::DW_AT_byte_size);
                own.or_else(|| self.size_within(&self.underlying(at)?, depth))
            }
            Shape::Array(element, count) => self.size_within(&element, depth)?.checked_mul(count?),
            Shape::Unknown => match ty {
                Type::Described(at) => self.bare_entry(*at)??.unsigned(gimli::DW_AT_byte_size),
                _ => None,
            },
        }
    }

    /// The members of a record in the order of declaration, base classes first, without static members.
    pub(crate) fn members(self, record: DieRef) -> Vec<Member> {
        self.children(record).iter().filter_map(|child| self.member(child)).collect()
    }

    pub(crate) fn member(self, entry: &Entry) -> Option<Member> {
        let is_base = entry.tag() == gimli::DW_TAG_inheritance;
        if !is_base && entry.tag() != gimli::DW_TAG_member {
            return None;
        }
        // A declared member is a static one.
        if entry.flag(gimli::DW_AT_declaration) || entry.flag(gimli::DW_AT_external) {
            return None;
        }
        let ty = self.type_of(entry);
        let mut offset = match entry.attribute(gimli::DW_AT_data_member_location) {
            None => Offset::Fixed(0),
            Some(AttributeValue::Exprloc(_)) => match self.simple_offset(entry) {
                Some(offset) => Offset::Fixed(offset),
                None => Offset::Computed(entry.at),
            },
            Some(value) => Offset::Fixed(value.udata_value()?),
        };
        let bits = self.bits(entry, &ty, &mut offset);
        Some(Member { name: self.text(entry, gimli::DW_AT_name), ty, offset, bits, is_base })
    }

    /// Older debug information encodes offsets as `DW_OP_plus_uconst`.
    fn simple_offset(self, entry: &Entry) -> Option<u64> {
        let Some(AttributeValue::Exprloc(rule)) = entry.attribute(gimli::DW_AT_data_member_location) else {
            return None;
        };
        let mut operations = rule.operations(self.encoding(entry.at)?);
        match (operations.next(), operations.next()) {
            (Ok(Some(gimli::Operation::PlusConstant { value })), Ok(None)) => Some(value),
            _ => None,
        }
    }

    fn bits(self, entry: &Entry, ty: &Type, offset: &mut Offset) -> Option<Bits> {
        let count = entry.unsigned(gimli::DW_AT_bit_size)?;
        let Offset::Fixed(bytes) = *offset else { return None };
        let first = match entry.unsigned(gimli::DW_AT_data_bit_offset) {
            Some(first) => first,
            // The older form counts from the most significant bit of the storage unit.
            None => {
                let storage = entry.unsigned(gimli::DW_AT_byte_size).or_else(|| self.size(ty))?;
                let from_top = entry.signed(gimli::DW_AT_bit_offset).unwrap_or(0);
                let low = (storage as i64 * 8).checked_sub(from_top)?.checked_sub(count as i64)?;
                bytes.checked_mul(8)?.checked_add_signed(low)?
            }
        };
        *offset = Offset::Fixed(first / 8);
        Some(Bits { first: first % 8, count })
    }

    /// The variants, if the record is a Rust enumeration.
    pub(crate) fn variants(self, record: DieRef) -> Option<Variants> {
        let part =
            self.children(record).into_iter().find(|child| child.tag() == gimli::DW_TAG_variant_part)?;
        let discriminant = self
            .reference(&part, gimli::DW_AT_discr)
            .and_then(|at| self.entry(at))
            .and_then(|e| self.member(&e));
        let all = self
            .children(part.at)
            .into_iter()
            .filter(|child| child.tag() == gimli::DW_TAG_variant)
            .filter_map(|variant| {
                let value = variant.attribute(gimli::DW_AT_discr_value).and_then(constant);
                let member = self.children(variant.at).iter().find_map(|child| self.member(child))?;
                Some((value, member))
            })
            .collect();
        Some(Variants { discriminant, all })
    }

    /// The enumerators with their values, extended to 128 bits.
    pub(crate) fn enumerators(self, enumeration: DieRef) -> Vec<(&'static str, u128)> {
        let children = self.children(enumeration);
        children.iter().filter_map(|child| self.enumerator(child)).collect()
    }

    pub(crate) fn enumerator(self, entry: &Entry) -> Option<(&'static str, u128)> {
        if entry.tag() != gimli::DW_TAG_enumerator {
            return None;
        }
        Some((self.name(entry)?, constant(entry.attribute(gimli::DW_AT_const_value)?)?))
    }

    /// The underlying integer type of an enumeration, if it is recorded.
    pub(crate) fn underlying(self, enumeration: DieRef) -> Option<Type> {
        let entry = self.entry(enumeration)?;
        self.reference(&entry, gimli::DW_AT_type).map(Type::Described)
    }

    /// Whether the values of an enumeration are signed.
    pub(crate) fn enumeration_is_signed(self, enumeration: DieRef) -> bool {
        match self.underlying(enumeration).map(|ty| self.shape(&ty)) {
            Some(Shape::Basic(basic)) => {
                matches!(basic.encoding, Encoding::Signed | Encoding::Char { signed: true })
            }
            _ => self.enumerators(enumeration).iter().any(|&(_, value)| (value as i128) < 0),
        }
    }

    /// The language of a type; computed types are those of C.
    pub(crate) fn language_of_type(self, ty: &Type) -> Language {
        match ty {
            Type::Described(at) => self.language(*at),
            Type::Pointer(inner) | Type::Array(inner, _) => self.language_of_type(inner),
            _ => Language::C,
        }
    }
}

fn encoding_of(encoding: DwAte) -> Encoding {
    match encoding {
        gimli::DW_ATE_signed => Encoding::Signed,
        gimli::DW_ATE_unsigned => Encoding::Unsigned,
        gimli::DW_ATE_address => Encoding::Address,
        gimli::DW_ATE_signed_char => Encoding::Char { signed: true },
        gimli::DW_ATE_unsigned_char => Encoding::Char { signed: false },
        gimli::DW_ATE_UTF | gimli::DW_ATE_UCS | gimli::DW_ATE_ASCII => Encoding::Unicode,
        gimli::DW_ATE_boolean => Encoding::Bool,
        gimli::DW_ATE_float => Encoding::Float,
        _ => Encoding::Other,
    }
}

/// The integer value of an attribute, sign-extended if its form is signed.
pub(crate) fn constant(value: AttributeValue<crate::image::Reader>) -> Option<u128> {
    match value {
        AttributeValue::Sdata(value) => Some(value as i128 as u128),
        AttributeValue::Data16(value) => Some(value),
        AttributeValue::Block(bytes) => {
            let slice = bytes.slice();
            let mut all = [0; 16];
            all.get_mut(..slice.len())?.copy_from_slice(slice);
            Some(u128::from_le_bytes(all))
        }
        other => other.udata_value().map(u128::from),
    }
}
