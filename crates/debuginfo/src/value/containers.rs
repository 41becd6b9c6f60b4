//! Values that stand for texts, lists and alternatives: known by their structure.

use crate::value::datum::{Datum, Unavailable};
use crate::value::evaluate::Stop;
use crate::value::info::{At, Language};
use crate::value::number::Integer;
use crate::value::scope::Scope;
use crate::value::types::{Encoding, Member, Shape, Type};

/// Elements somewhere in memory: their type, where they begin, how many.
pub(crate) type Slice = (Type, u64, u64);

/// How deep a pointer may be wrapped in structs.
const DEEPEST: u8 = 8;

impl Scope<'_> {
    /// The elements of a slice or vector, if the record is one.
    pub(crate) fn slice_of(&self, datum: &Datum) -> Option<Result<Slice, Unavailable>> {
        let Shape::Record(record) = self.info.shape(&datum.ty) else { return None };
        let name = self.info.name(&self.info.entry(record)?)?;
        match self.info.language(record) {
            Language::Rust => self.rust_slice(datum, record, name),
            Language::Cpp if name.starts_with("vector<") && !name.starts_with("vector<bool") => {
                self.cpp_vector(datum)
            }
            _ => None,
        }
    }

    fn field(&self, datum: &Datum, path: &[&str]) -> Option<Datum> {
        path.iter().try_fold(datum.clone(), |whole, name| self.member(&whole, name).ok().flatten())
    }

    fn rust_slice(&self, datum: &Datum, record: At, name: &str) -> Option<Result<Slice, Unavailable>> {
        if let (Some(start), Some(length)) =
            (self.field(datum, &["data_ptr"]), self.field(datum, &["length"]))
        {
            let Shape::Pointer(element) = self.info.shape(&start.ty) else { return None };
            return Some(self.slice(element, &start, &length));
        }
        if name == "String" {
            let vector = self.field(datum, &["vec"])?;
            return self.slice_of(&vector);
        }
        if !name.starts_with("Vec<") {
            return None;
        }
        let length = self.field(datum, &["len"])?;
        let start = self.first_pointer(&self.field(datum, &["buf"])?, DEEPEST)?;
        let parameter = self
            .info
            .children(record)
            .into_iter()
            .find(|c| c.tag() == gimli::DW_TAG_template_type_parameter)?;
        Some(self.slice(self.info.type_of(&parameter), &start, &length))
    }

    fn cpp_vector(&self, datum: &Datum) -> Option<Result<Slice, Unavailable>> {
        let start = self.field(datum, &["_M_impl", "_M_start"])?;
        let finish = self.field(datum, &["_M_impl", "_M_finish"])?;
        let Shape::Pointer(element) = self.info.shape(&start.ty) else { return None };
        let size = self.info.size(&element)?.max(1);
        let ends = || Ok((self.word_at(&start.place, 8)? as u64, self.word_at(&finish.place, 8)? as u64));
        Some(ends().map(|(from, to)| (element, from, to.saturating_sub(from) / size)))
    }

    fn slice(&self, element: Type, start: &Datum, length: &Datum) -> Result<Slice, Unavailable> {
        let from = self.word_at(&start.place, 8)? as u64;
        let length = self.word_at(&length.place, 8)? as u64;
        Ok((element, from, length))
    }

    /// The pointer inside of the structs that Rust wraps around it.
    fn first_pointer(&self, datum: &Datum, depth: u8) -> Option<Datum> {
        let depth = depth.checked_sub(1)?;
        match self.info.shape(&datum.ty) {
            Shape::Pointer(_) => Some(datum.clone()),
            Shape::Record(record) => self
                .info
                .members(record)
                .iter()
                .find_map(|member| self.first_pointer(&self.part(datum, member).ok()?, depth)),
            _ => None,
        }
    }

    /// Whether a slice or vector is a text: Rust's `&str` and `String`, C++'s `std::string`.
    pub(crate) fn is_text_record(&self, datum: &Datum) -> bool {
        let Shape::Record(record) = self.info.shape(&datum.ty) else { return false };
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

    /// The text that a value stands for, if it does; at most so many bytes.
    pub(crate) fn text_of(&self, datum: &Datum, most: usize) -> Result<Option<Vec<u8>>, Unavailable> {
        Ok(self.long_text_of(datum, most)?.map(|(text, _)| text))
    }

    /// The same, and whether there is more of it.
    pub(crate) fn long_text_of(
        &self,
        datum: &Datum,
        most: usize,
    ) -> Result<Option<(Vec<u8>, bool)>, Unavailable> {
        let most = most.min(crate::value::read::MOST_BYTES as usize);
        let datum = &self.dereferenced(datum)?;
        match self.info.shape(&datum.ty) {
            Shape::Pointer(target) if self.is_char(&target) => {
                let address = self.word_at(&datum.place, 8)? as u64;
                self.text_at(address, most).map(Some)
            }
            Shape::Array(element, count) if self.is_char(&element) => {
                let size = count.unwrap_or(0).min(most as u64);
                let mut bytes = self.bytes_at(&datum.place, size)?;
                let end = bytes.iter().position(|byte| *byte == 0);
                bytes.truncate(end.unwrap_or(bytes.len()));
                Ok(Some((bytes, end.is_none() && count.unwrap_or(0) > size)))
            }
            Shape::Record(_) if self.is_text_record(datum) => {
                let (start, length) = match self.slice_of(datum) {
                    Some(slice) => slice.map(|(_, start, length)| (start, length))?,
                    None => match (
                        self.field(datum, &["_M_dataplus", "_M_p"]),
                        self.field(datum, &["_M_string_length"]),
                    ) {
                        (Some(start), Some(length)) => {
                            (self.word_at(&start.place, 8)? as u64, self.word_at(&length.place, 8)? as u64)
                        }
                        _ => return Ok(None),
                    },
                };
                let size = length.min(most as u64);
                let mut bytes = vec![0; size as usize];
                // An empty text may begin anywhere.
                if size > 0 {
                    self.memory.read(start, &mut bytes).map_err(|e| Unavailable::Unreadable(e.0))?;
                }
                Ok(Some((bytes, length > size)))
            }
            _ => Ok(None),
        }
    }

    /// The variant that a value of an enumeration of Rust is, if it is of one.
    pub(crate) fn active_variant(&self, datum: &Datum) -> Option<Result<Member, Unavailable>> {
        let Shape::Record(record) = self.info.shape(&datum.ty) else { return None };
        let variants = self.info.variants(record)?;
        let Some(discriminant) = &variants.discriminant else {
            let (_, only) = variants.all.into_iter().next()?;
            return Some(Ok(only));
        };
        let value = match self.part(datum, discriminant) {
            Ok(part) => match self.scalar(&part) {
                Ok(Some((bits, basic))) => (bits, (basic.size * 8).clamp(8, 128) as u8),
                Ok(None) => return Some(Err(Unavailable::NotUnderstood)),
                Err(reason) => return Some(Err(reason)),
            },
            Err(Stop::Missing(reason)) => return Some(Err(reason)),
            Err(Stop::Mistake(_)) => return Some(Err(Unavailable::NotUnderstood)),
        };
        // Values are noted with or without sign; as many bits count as the discriminant has.
        let same = |bits: u128| Integer::new(bits, value.1, false) == Integer::new(value.0, value.1, false);
        let chosen = variants.all.iter().find(|(of, _)| of.is_some_and(same));
        let chosen = chosen.or_else(|| variants.all.iter().find(|(of, _)| of.is_none()));
        match chosen {
            Some((_, member)) => Some(Ok(member.clone())),
            None => Some(Err(Unavailable::NotUnderstood)),
        }
    }
}
