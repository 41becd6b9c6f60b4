//! Access to DWARF entries of all images of a program.

use crate::image::{Die, Image, Reader, Unit};
use crate::program::{ActiveFunction, MappedImage, Program};
use crate::value::type_index::TypeIndex;
use gimli::{AttributeValue, DebuggingInformationEntry, DwAt, DwLang, DwTag, Encoding, UnitRef};
use std::sync::Arc;

/// Reference to a DWARF entry of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DieRef {
    /// Index of the image in the program.
    pub image: usize,
    /// The entry in that image.
    pub die: Die,
}

/// An entry with its attributes.
pub(crate) struct Entry {
    pub(crate) at: DieRef,
    pub(crate) raw: DebuggingInformationEntry<Reader>,
}

impl Entry {
    pub(crate) fn tag(&self) -> DwTag {
        self.raw.tag()
    }

    pub(crate) fn attribute(&self, name: DwAt) -> Option<AttributeValue<Reader>> {
        self.raw.attr_value(name)
    }

    /// The value of an unsigned attribute.
    pub(crate) fn unsigned(&self, name: DwAt) -> Option<u64> {
        self.attribute(name)?.udata_value()
    }

    /// The value of a signed attribute; fixed-size forms are taken as signed.
    pub(crate) fn signed(&self, name: DwAt) -> Option<i64> {
        self.attribute(name)?.sdata_value()
    }

    pub(crate) fn flag(&self, name: DwAt) -> bool {
        matches!(self.attribute(name), Some(AttributeValue::Flag(true)))
    }
}

/// Languages with a syntax of their own for types and values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C and similar languages.
    C,
    /// C++.
    Cpp,
    /// Rust.
    Rust,
}

/// Debug information of a program, with the index of its names.
#[derive(Clone, Copy)]
pub(crate) struct Info<'a> {
    pub(crate) program: &'a Program,
    pub(crate) types: &'a TypeIndex,
}

impl<'a> Info<'a> {
    pub(crate) fn image(self, at: usize) -> Option<&'a Image> {
        self.program.images().get(at).map(|mapped| mapped.image.as_ref())
    }

    /// The DWARF entry of a function.
    pub(crate) fn die_ref_of(self, function: &ActiveFunction) -> Option<DieRef> {
        Some(DieRef { image: self.position(&function.mapped)?, die: function.die? })
    }

    /// The index of an image in the program.
    pub(crate) fn position(self, wanted: &MappedImage) -> Option<usize> {
        let same =
            |mapped: &MappedImage| Arc::ptr_eq(&mapped.image, &wanted.image) && mapped.bias == wanted.bias;
        self.program.images().iter().position(same)
    }

    /// The bias of an image.
    pub(crate) fn bias(self, image: usize) -> u64 {
        self.program.images().get(image).map_or(0, |mapped| mapped.bias)
    }

    pub(crate) fn unit(self, at: DieRef) -> Option<UnitRef<'a, Reader>> {
        self.image(at.image)?.unit(at.die.unit)
    }

    pub(crate) fn encoding(self, at: DieRef) -> Option<Encoding> {
        Some(self.unit(at)?.unit.encoding())
    }

    pub(crate) fn entry(self, at: DieRef) -> Option<Entry> {
        let raw = self.unit(at)?.unit.entry(at.die.offset).ok()?;
        Some(Entry { at, raw })
    }

    /// The direct children of an entry.
    pub(crate) fn children(self, at: DieRef) -> Vec<Entry> {
        let Some(unit) = self.unit(at) else { return Vec::new() };
        children(unit.unit, at)
    }

    /// The entry that an attribute refers to.
    pub(crate) fn reference(self, entry: &Entry, name: DwAt) -> Option<DieRef> {
        let die = self.image(entry.at.image)?.resolve(entry.at.die.unit, entry.attribute(name)?)?;
        Some(DieRef { image: entry.at.image, die })
    }

    pub(crate) fn text(self, entry: &Entry, name: DwAt) -> Option<&'static str> {
        self.unit(entry.at)?.attr_string(entry.attribute(name)?).ok()?.to_string().ok()
    }

    /// The entry itself, and the entries that it completes or is an instance of.
    pub(crate) fn origins(self, entry: Entry) -> Vec<Entry> {
        let mut all = vec![entry];
        // At most three occur: an inlined instance of a definition of a declaration.
        while let Some(last) = all.last()
            && all.len() < 5
        {
            let next = self
                .reference(last, gimli::DW_AT_abstract_origin)
                .or_else(|| self.reference(last, gimli::DW_AT_specification));
            match next.and_then(|at| self.entry(at)) {
                Some(origin) => all.push(origin),
                None => break,
            }
        }
        all
    }

    /// The name of an entry, or of the one that it completes.
    pub(crate) fn name(self, entry: &Entry) -> Option<&'static str> {
        if let Some(name) = self.text(entry, gimli::DW_AT_name) {
            return Some(name);
        }
        let copy = Entry { at: entry.at, raw: entry.raw.clone() };
        self.origins(copy).iter().skip(1).find_map(|origin| self.text(origin, gimli::DW_AT_name))
    }

    pub(crate) fn language(self, at: DieRef) -> Language {
        let Some(unit) = self.unit(at) else { return Language::C };
        let Ok(root) = unit.unit.entry(unit.unit.header.root_offset()) else { return Language::C };
        match root.attr_value(gimli::DW_AT_language) {
            Some(AttributeValue::Language(language)) => language_of(language),
            _ => Language::C,
        }
    }
}

fn language_of(language: DwLang) -> Language {
    match language {
        gimli::DW_LANG_Rust => Language::Rust,
        gimli::DW_LANG_C_plus_plus
        | gimli::DW_LANG_C_plus_plus_03
        | gimli::DW_LANG_C_plus_plus_11
        | gimli::DW_LANG_C_plus_plus_14
        | gimli::DW_LANG_C_plus_plus_17
        | gimli::DW_LANG_C_plus_plus_20 => Language::Cpp,
        _ => Language::C,
    }
}

/// The direct children of an entry.
pub(crate) fn children(unit: &Unit, at: DieRef) -> Vec<Entry> {
    let mut below = Vec::new();
    let Ok(mut cursor) = unit.entries_at_offset(at.die.offset) else { return below };
    // First the entry itself, then its first child.
    if !matches!(cursor.next_entry(), Ok(true)) || !cursor.current().is_some_and(|entry| entry.has_children())
    {
        return below;
    }
    let mut more = cursor.next_entry().is_ok_and(|more| more);
    while more && let Some(raw) = cursor.current() {
        let die = Die { unit: at.die.unit, offset: raw.offset() };
        below.push(Entry { at: DieRef { image: at.image, die }, raw: raw.clone() });
        more = matches!(cursor.next_sibling(), Ok(Some(_)));
    }
    below
}
