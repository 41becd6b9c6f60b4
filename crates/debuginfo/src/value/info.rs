//! Reading entries of the debug information of all images of a program.

use crate::image::{Die, Image, Reader, Unit};
use crate::program::{Activation, Loaded, Program};
use crate::value::catalog::Catalog;
use gimli::{AttributeValue, DebuggingInformationEntry, DwAt, DwLang, DwTag, Encoding, UnitRef};
use std::sync::Arc;

/// An entry of the debug information of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct At {
    /// The image, by its position in the program.
    pub image: usize,
    /// The entry in it.
    pub die: Die,
}

/// An entry with its attributes.
pub(crate) struct Entry {
    pub(crate) at: At,
    pub(crate) raw: DebuggingInformationEntry<Reader>,
}

impl Entry {
    pub(crate) fn tag(&self) -> DwTag {
        self.raw.tag()
    }

    pub(crate) fn attribute(&self, name: DwAt) -> Option<AttributeValue<Reader>> {
        self.raw.attr_value(name)
    }

    /// An attribute that is a number without sign.
    pub(crate) fn unsigned(&self, name: DwAt) -> Option<u64> {
        self.attribute(name)?.udata_value()
    }

    /// An attribute that is a number; fixed-size forms are taken as signed.
    pub(crate) fn signed(&self, name: DwAt) -> Option<i64> {
        self.attribute(name)?.sdata_value()
    }

    pub(crate) fn flag(&self, name: DwAt) -> bool {
        matches!(self.attribute(name), Some(AttributeValue::Flag(true)))
    }
}

/// The languages whose ways of writing things differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C, and whatever is like it.
    C,
    /// C++.
    Cpp,
    /// Rust.
    Rust,
}

/// What the debug information of a program says, with the names found in it so far.
#[derive(Clone, Copy)]
pub(crate) struct Info<'a> {
    pub(crate) program: &'a Program,
    pub(crate) catalog: &'a Catalog,
}

impl<'a> Info<'a> {
    pub(crate) fn image(self, at: usize) -> Option<&'a Image> {
        self.program.images().get(at).map(|loaded| loaded.image.as_ref())
    }

    /// Where a function is described.
    pub(crate) fn at_of(self, function: &Activation) -> Option<At> {
        Some(At { image: self.position(&function.loaded)?, die: function.die? })
    }

    /// The position of an image in the program.
    pub(crate) fn position(self, wanted: &Loaded) -> Option<usize> {
        let same = |loaded: &Loaded| Arc::ptr_eq(&loaded.image, &wanted.image) && loaded.bias == wanted.bias;
        self.program.images().iter().position(same)
    }

    /// What is added to the addresses in an image.
    pub(crate) fn bias(self, image: usize) -> u64 {
        self.program.images().get(image).map_or(0, |loaded| loaded.bias)
    }

    pub(crate) fn unit(self, at: At) -> Option<UnitRef<'a, Reader>> {
        self.image(at.image)?.unit(at.die.unit)
    }

    pub(crate) fn encoding(self, at: At) -> Option<Encoding> {
        Some(self.unit(at)?.unit.encoding())
    }

    pub(crate) fn entry(self, at: At) -> Option<Entry> {
        let raw = self.unit(at)?.unit.entry(at.die.offset).ok()?;
        Some(Entry { at, raw })
    }

    /// The entries directly below one.
    pub(crate) fn children(self, at: At) -> Vec<Entry> {
        let Some(unit) = self.unit(at) else { return Vec::new() };
        children(unit.unit, at)
    }

    /// The entry that an attribute refers to.
    pub(crate) fn reference(self, entry: &Entry, name: DwAt) -> Option<At> {
        let die = self.image(entry.at.image)?.resolve(entry.at.die.unit, entry.attribute(name)?)?;
        Some(At { image: entry.at.image, die })
    }

    pub(crate) fn text(self, entry: &Entry, name: DwAt) -> Option<&'static str> {
        self.unit(entry.at)?.attr_string(entry.attribute(name)?).ok()?.to_string().ok()
    }

    /// The entry itself and those that it completes or is a copy of.
    pub(crate) fn origins(self, entry: Entry) -> Vec<Entry> {
        let mut all = vec![entry];
        // Three are the most that occur: an inlined copy of a definition of a declaration.
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

    /// The name of an entry, or of what it completes.
    pub(crate) fn name(self, entry: &Entry) -> Option<&'static str> {
        if let Some(name) = self.text(entry, gimli::DW_AT_name) {
            return Some(name);
        }
        let copy = Entry { at: entry.at, raw: entry.raw.clone() };
        self.origins(copy).iter().skip(1).find_map(|origin| self.text(origin, gimli::DW_AT_name))
    }

    pub(crate) fn language(self, at: At) -> Language {
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

/// The entries directly below one.
pub(crate) fn children(unit: &Unit, at: At) -> Vec<Entry> {
    let mut below = Vec::new();
    let Ok(mut cursor) = unit.entries_at_offset(at.die.offset) else { return below };
    // The entry itself first, then its first child.
    if !matches!(cursor.next_entry(), Ok(true)) || !cursor.current().is_some_and(|entry| entry.has_children())
    {
        return below;
    }
    let mut more = cursor.next_entry().is_ok_and(|more| more);
    while more && let Some(raw) = cursor.current() {
        let die = Die { unit: at.die.unit, offset: raw.offset() };
        below.push(Entry { at: At { image: at.image, die }, raw: raw.clone() });
        more = matches!(cursor.next_sibling(), Ok(Some(_)));
    }
    below
}
