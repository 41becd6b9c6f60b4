//! Strings, vectors, slices and Rust enumerations, recognised by the structure of their types.

use crate::value::evaluate::EvalError;
use crate::value::info::{DieRef, Language};
use crate::value::number::Integer;
use crate::value::scope::Scope;
use crate::value::typed_value::{TypedValue, Unavailable};
use crate::value::types::{Encoding, Member, Shape, Type};

/// Contiguous elements in memory: their type, start address and number.
pub(crate) type Slice = (Type, u64, u64);

/// Maximum number of structs around a pointer.
const MAX_WRAPPER_DEPTH: u8 = 8;

impl Scope<'_> {
    /// The elements of a slice or vector, if the record is one.
    pub(crate) fn elements_of(&self, typed_value: &TypedValue) -> Option<Result<Slice, Unavailable>> {
        let Shape::Record(record) = self.info.shape(&typed_value.ty) else { return None };
        let name = self.info.name(&self.info.entry(record)?)?;
        match self.info.language(record) {
            Language::Rust => self.rust_slice(typed_value, record, name),
            Language::Cpp if name.starts_with("vector<") && !name.starts_with("vector<bool") => {
                self.cpp_vector(typed_value)
            }
            _ => None,
        }
    }

    fn field(&self, typed_value: &TypedValue, path: &[&str]) -> Option<TypedValue> {
        path.iter().try_fold(typed_value.clone(), |whole, name| self.member(&whole, name).ok().flatten())
    }

    fn rust_slice(
        &self,
        typed_value: &TypedValue,
        record: DieRef,
        name: &str,
    ) -> Option<Result<Slice, Unavailable>> {
        if let (Some(start), Some(length)) =
            (self.field(typed_value, &["data_ptr"]), self.field(typed_value, &["length"]))
        {
            let Shape::Pointer(element) = self.info.shape(&start.ty) else { return None };
            return Some(self.slice(element, &start, &length));
        }
        if name == "String" {
            let vector = self.field(typed_value, &["vec"])?;
            return self.elements_of(&vector);
        }
        if !name.starts_with("Vec<") {
            return None;
        }
        let length = self.field(typed_value, &["len"])?;
        let start = self.first_pointer(&self.field(typed_value, &["buf"])?, MAX_WRAPPER_DEPTH)?;
        let parameter = self
            .info
            .children(record)
            .into_iter()
            .find(|c| c.tag() == gimli::DW_TAG_template_type_parameter)?;
        Some(self.slice(self.info.type_of(&parameter), &start, &length))
    }

    fn cpp_vector(&self, typed_value: &TypedValue) -> Option<Result<Slice, Unavailable>> {
        let start = self.field(typed_value, &["_M_impl", "_M_start"])?;
        let finish = self.field(typed_value, &["_M_impl", "_M_finish"])?;
        let Shape::Pointer(element) = self.info.shape(&start.ty) else { return None };
        let size = self.info.size(&element)?.max(1);
        let ends =
            || Ok((self.word_at(&start.location, 8)? as u64, self.word_at(&finish.location, 8)? as u64));
        Some(ends().map(|(from, to)| (element, from, to.saturating_sub(from) / size)))
    }

    fn slice(&self, element: Type, start: &TypedValue, length: &TypedValue) -> Result<Slice, Unavailable> {
        let from = self.word_at(&start.location, 8)? as u64;
        let length = self.word_at(&length.location, 8)? as u64;
        Ok((element, from, length))
    }

    /// The pointer inside of the wrapper structs of Rust's smart pointers.
    fn first_pointer(&self, typed_value: &TypedValue, depth: u8) -> Option<TypedValue> {
        let depth = depth.checked_sub(1)?;
        match self.info.shape(&typed_value.ty) {
            Shape::Pointer(_) => Some(typed_value.clone()),
            Shape::Record(record) => self
                .info
                .members(record)
                .iter()
                .find_map(|member| self.first_pointer(&self.part(typed_value, member).ok()?, depth)),
            _ => None,
        }
    }

    /// Whether a slice or vector is a string: `&str` or `String` of Rust, `std::string` of C++.
    pub(crate) fn is_text_record(&self, typed_value: &TypedValue) -> bool {
        let Shape::Record(record) = self.info.shape(&typed_value.ty) else { return false };
        let Some(name) = self.info.entry(record).and_then(|entry| self.info.name(&entry)) else {
            return false;
        };
        match self.info.language(record) {
            Language::Rust => name == "String" || name.ends_with("str") || name.starts_with("Box<str"),
            Language::Cpp => name.starts_with("basic_string<char"),
            Language::C => false,
        }
    }

    /// Whether a type is C's `char` in one of its forms.
    pub(crate) fn is_char(&self, ty: &Type) -> bool {
        matches!(self.info.shape(ty), Shape::Basic(basic) if basic.size == 1 && matches!(basic.encoding, Encoding::Char { .. }))
    }

    /// The contents of a string value, truncated to `max_len` bytes; `None` if it is not a string.
    pub(crate) fn text_of(
        &self,
        typed_value: &TypedValue,
        max_len: usize,
    ) -> Result<Option<Vec<u8>>, Unavailable> {
        Ok(self.text_with_truncation(typed_value, max_len)?.map(|(text, _)| text))
    }

    /// Like [`Scope::text_of`], and whether the string was truncated.
    pub(crate) fn text_with_truncation(
        &self,
        typed_value: &TypedValue,
        max_len: usize,
    ) -> Result<Option<(Vec<u8>, bool)>, Unavailable> {
        let max_len = max_len.min(crate::value::read::MAX_BYTES as usize);
        let typed_value = &self.without_reference(typed_value)?;
        match self.info.shape(&typed_value.ty) {
            Shape::Pointer(target) if self.is_char(&target) => {
                let address = self.word_at(&typed_value.location, 8)? as u64;
                self.text_at(address, max_len).map(Some)
            }
            Shape::Array(element, count) if self.is_char(&element) => {
                let size = count.unwrap_or(0).min(max_len as u64);
                let mut bytes = self.bytes_at(&typed_value.location, size)?;
                let end = bytes.iter().position(|byte| *byte == 0);
                bytes.truncate(end.unwrap_or(bytes.len()));
                Ok(Some((bytes, end.is_none() && count.unwrap_or(0) > size)))
            }
            Shape::Record(_) if self.is_text_record(typed_value) => {
                let (start, length) = match self.elements_of(typed_value) {
                    Some(slice) => slice.map(|(_, start, length)| (start, length))?,
                    None => match (
                        self.field(typed_value, &["_M_dataplus", "_M_p"]),
                        self.field(typed_value, &["_M_string_length"]),
                    ) {
                        (Some(start), Some(length)) => (
                            self.word_at(&start.location, 8)? as u64,
                            self.word_at(&length.location, 8)? as u64,
                        ),
                        _ => return Ok(None),
                    },
                };
                let size = length.min(max_len as u64);
                let mut bytes = vec![0; size as usize];
                // The pointer of an empty string may be dangling.
                if size > 0 {
                    self.memory.read(start, &mut bytes).map_err(|e| Unavailable::Unreadable(e.0))?;
                }
                Ok(Some((bytes, length > size)))
            }
            _ => Ok(None),
        }
    }

    /// The active variant, if the value is a Rust enumeration.
    pub(crate) fn active_variant(&self, typed_value: &TypedValue) -> Option<Result<Member, Unavailable>> {
        let Shape::Record(record) = self.info.shape(&typed_value.ty) else { return None };
        let variants = self.info.variants(record)?;
        let Some(discriminant) = &variants.discriminant else {
            let (_, only) = variants.all.into_iter().next()?;
            return Some(Ok(only));
        };
        let value = match self.part(typed_value, discriminant) {
            Ok(part) => match self.scalar(&part) {
                Ok(Some((bits, basic))) => (bits, (basic.size * 8).clamp(8, 128) as u8),
                Ok(None) => return Some(Err(Unavailable::NotUnderstood)),
                Err(reason) => return Some(Err(reason)),
            },
            Err(EvalError::Missing(reason) | EvalError::Inapplicable(_, reason)) => return Some(Err(reason)),
            Err(EvalError::Invalid(_)) => return Some(Err(Unavailable::NotUnderstood)),
        };
        // The debug information may record values signed or unsigned, so only the bits of the discriminant are
        // compared.
        let same = |bits: u128| Integer::new(bits, value.1, false) == Integer::new(value.0, value.1, false);
        let chosen = variants.all.iter().find(|(of, _)| of.is_some_and(same));
        let chosen = chosen.or_else(|| variants.all.iter().find(|(of, _)| of.is_none()));
        match chosen {
            Some((_, member)) => Some(Ok(member.clone())),
            None => Some(Err(Unavailable::NotUnderstood)),
        }
    }
}
