//! Debug information of an image: its sections and units, from the file itself or separate files.

use super::elf::ElfFile;
use super::{Die, Dwarf, Reader, Unit, separate};
use gimli::{
    AbbreviationsCacheStrategy, AttributeValue, EndianSlice, LittleEndian, UnitOffset, UnitSectionOffset,
};
use object::{Object, ObjectSection};
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The debug information of one image.
pub(super) struct Debug {
    pub(super) dwarf: Option<Dwarf>,
    /// The separate file, if it is not the image itself.
    pub(super) separate: Option<(PathBuf, ElfFile)>,
    pub(super) error: Option<String>,
}

impl Debug {
    pub(super) fn load(path: &Path, elf_file: &ElfFile, directories: &[PathBuf]) -> Debug {
        let mut debug = Debug { dwarf: None, separate: None, error: separate::unreadable_reason(elf_file) };
        if !separate::has_debug_info(elf_file) {
            match separate::find(path, elf_file, directories) {
                Ok(found) => debug.separate = found,
                Err(why) => debug.error = Some(why),
            }
        }
        let (path, elf_file) = match &debug.separate {
            Some((path, elf_file)) => (path.as_path(), elf_file),
            None => (path, elf_file),
        };
        if !separate::has_debug_info(elf_file) {
            return debug;
        }
        let mut dwarf = load_sections(elf_file, &mut debug.error);
        match separate::supplementary(path, elf_file, directories) {
            Ok(Some(shared)) => {
                let mut shared = load_sections(&shared, &mut debug.error);
                shared.populate_abbreviations_cache(AbbreviationsCacheStrategy::Duplicates);
                dwarf.set_sup(shared);
            }
            Ok(None) => {}
            Err(why) => debug.error = Some(why),
        }
        dwarf.populate_abbreviations_cache(AbbreviationsCacheStrategy::Duplicates);
        debug.dwarf = Some(dwarf);
        debug
    }
}

/// Loads the sections. Unreadable ones are treated as empty, and the reason is stored in `error`.
fn load_sections(elf_file: &ElfFile, error: &mut Option<String>) -> Dwarf {
    let loaded = Dwarf::load(|id| -> Result<Reader, std::convert::Infallible> {
        Ok(EndianSlice::new(section_bytes(elf_file, id.name(), error), LittleEndian))
    });
    match loaded {
        Ok(dwarf) => dwarf,
    }
}

/// The bytes of a debug section, decompressed if it is compressed.
pub(super) fn section_bytes(elf_file: &ElfFile, name: &str, error: &mut Option<String>) -> &'static [u8] {
    let Some(section) = elf_file.elf.section_by_name(name) else { return &[] };
    match section.uncompressed_data() {
        Ok(Cow::Borrowed(bytes)) => bytes,
        Ok(Cow::Owned(bytes)) => Vec::leak(bytes),
        Err(cause) => {
            error.get_or_insert_with(|| format!("section {name} cannot be read: {cause}"));
            &[]
        }
    }
}

/// The units of an image: first those of its own `.debug_info`, then those of `.debug_types`, then those of
/// the supplementary file.
pub(super) struct Units {
    pub(super) all: Vec<Unit>,
    /// Index of the first type unit.
    types_start: usize,
    /// Index of the first unit of the supplementary file.
    shared_start: usize,
    signatures: HashMap<u64, Die>,
    pub(super) error: Option<String>,
}

impl Units {
    pub(super) fn read(dwarf: Option<&Dwarf>) -> Units {
        let mut units = Units {
            all: Vec::new(),
            types_start: 0,
            shared_start: 0,
            signatures: HashMap::new(),
            error: None,
        };
        let Some(dwarf) = dwarf else { return units };
        let mut headers = dwarf.units();
        units.add(dwarf, || headers.next());
        units.types_start = units.all.len();
        let mut headers = dwarf.type_units();
        units.add(dwarf, || headers.next());
        units.shared_start = units.all.len();
        if let Some(shared) = dwarf.sup() {
            let mut headers = shared.units();
            units.add(shared, || headers.next());
        }
        units
    }

    fn add(
        &mut self,
        dwarf: &Dwarf,
        mut next: impl FnMut() -> gimli::Result<Option<gimli::UnitHeader<Reader>>>,
    ) {
        loop {
            let unit = match next() {
                Ok(Some(header)) => dwarf.unit(header),
                Ok(None) => return,
                Err(error) => {
                    self.error.get_or_insert_with(|| format!("malformed debug information: {error}"));
                    return;
                }
            };
            match unit {
                Ok(unit) => {
                    let (gimli::UnitType::Type { type_signature, type_offset }
                    | gimli::UnitType::SplitType { type_signature, type_offset }) = unit.header.type_()
                    else {
                        self.all.push(unit);
                        continue;
                    };
                    let die = Die { unit: self.all.len(), offset: type_offset };
                    self.signatures.insert(type_signature.0, die);
                    self.all.push(unit);
                }
                Err(error) => {
                    self.error
                        .get_or_insert_with(|| format!("malformed unit in the debug information: {error}"));
                }
            }
        }
    }

    pub(super) fn is_shared(&self, unit: usize) -> bool {
        unit >= self.shared_start
    }

    /// The entry to which an attribute of an entry in `from` refers.
    pub(super) fn resolve(&self, from: usize, value: AttributeValue<Reader>) -> Option<Die> {
        match value {
            AttributeValue::UnitRef(offset) => Some(Die { unit: from, offset }),
            AttributeValue::DebugInfoRef(offset) if self.is_shared(from) => self.find(true, offset.0),
            AttributeValue::DebugInfoRef(offset) => self.find(false, offset.0),
            AttributeValue::DebugInfoRefSup(offset) => self.find(true, offset.0),
            AttributeValue::DebugTypesRef(signature) => self.signatures.get(&signature.0).copied(),
            _ => None,
        }
    }

    fn find(&self, is_shared: bool, offset: usize) -> Option<Die> {
        let (first, units) = match is_shared {
            true => (self.shared_start, &self.all[self.shared_start..]),
            false => (0, &self.all[..self.types_start]),
        };
        let after = units.partition_point(|unit| start_of(unit) <= offset);
        let position = after.checked_sub(1)?;
        let within = UnitOffset(offset.checked_sub(start_of(&units[position]))?);
        within.is_in_bounds(&units[position].header).then_some(Die { unit: first + position, offset: within })
    }
}

fn start_of(unit: &Unit) -> usize {
    let UnitSectionOffset(offset) = unit.header.offset();
    offset
}
