//! Macros of C and C++, if the program was compiled with `-g3`.

use crate::image::{Image, Reader};
use crate::program::Program;
use gimli::{AttributeValue, DebugMacinfoOffset, DebugMacroOffset, MacroEntry, MacroIter, UnitRef};
use std::collections::HashSet;

/// Maximum nesting depth of imports.
const NESTING: usize = 64;

/// Maximum number of entries read for one unit.
const ENTRIES: usize = 10_000_000;

/// The last definition of a macro.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Macro {
    /// The replacement text.
    pub body: String,
    /// The parameters of a function-like macro; the last may be `...`.
    pub parameters: Option<Vec<String>>,
}

impl Program {
    /// The definition of a macro in the unit whose code contains an address. If that unit has none, the first unit of
    /// the program that defines the macro is used. The last of several definitions counts; a macro that is undefined at
    /// the end of the file is not defined.
    pub fn macro_definition(&self, name: &str, address: Option<u64>) -> Option<Macro> {
        let in_unit = address.and_then(|address| {
            let mapped = self.image_at(address)?;
            let unit = mapped.image.lines().unit_at(mapped.in_file(address))?;
            mapped.image.macro_definition(name, unit)
        });
        in_unit.or_else(|| {
            let mapped = self.images().first()?;
            (0..mapped.image.units().len()).find_map(|unit| mapped.image.macro_definition(name, unit))
        })
    }
}

impl Image {
    /// The definition of a macro at the end of a unit.
    pub fn macro_definition(&self, name: &str, unit: usize) -> Option<Macro> {
        let unit = self.unit(unit)?;
        let root = unit.unit.entry(unit.header.root_offset()).ok()?;
        let start = [gimli::DW_AT_macros, gimli::DW_AT_GNU_macros, gimli::DW_AT_macro_info]
            .into_iter()
            .find_map(|attribute| Some((attribute, offset(root.attr_value(attribute)?)?)));
        let entries = match start? {
            (gimli::DW_AT_macro_info, offset) => unit.macinfo(DebugMacinfoOffset(offset)),
            (_, offset) => unit.macros(DebugMacroOffset(offset)),
        };
        let mut search = Search {
            unit,
            name: name.as_bytes(),
            found: None,
            imported: HashSet::new(),
            remaining_entries: ENTRIES,
        };
        search.run(entries.ok()?);
        search.found
    }
}

fn offset(value: AttributeValue<Reader>) -> Option<usize> {
    match value {
        AttributeValue::DebugMacroRef(offset) => Some(offset.0),
        AttributeValue::DebugMacinfoRef(offset) => Some(offset.0),
        AttributeValue::SecOffset(offset) => Some(offset),
        _ => None,
    }
}

struct Search<'a> {
    unit: UnitRef<'a, Reader>,
    name: &'a [u8],
    found: Option<Macro>,
    /// The imports that are being read; malformed files can import themselves.
    imported: HashSet<usize>,
    /// How many more entries may be read; malformed files can import each other repeatedly.
    remaining_entries: usize,
}

impl Search<'_> {
    fn run(&mut self, mut entries: MacroIter<Reader>) {
        // Entries read before a malformed one are kept.
        while let Ok(Some(entry)) = entries.next() {
            let Some(remaining) = self.remaining_entries.checked_sub(1) else { return };
            self.remaining_entries = remaining;
            match entry {
                MacroEntry::Define { text, .. } => {
                    let text = text.string(self.unit).ok();
                    if let Some(definition) = text.and_then(|text| parse(text.slice(), self.name)) {
                        self.found = Some(definition);
                    }
                }
                MacroEntry::Undef { name, .. }
                    if name.string(self.unit).is_ok_and(|name| name.slice() == self.name) =>
                {
                    self.found = None;
                }
                MacroEntry::Import { offset } => {
                    if self.imported.len() >= NESTING || !self.imported.insert(offset.0) {
                        continue;
                    }
                    if let Ok(entries) = self.unit.macros(offset) {
                        self.run(entries);
                    }
                    self.imported.remove(&offset.0);
                }
                _ => {}
            }
        }
    }
}

/// Parses `NAME body` or `NAME(a,b) body`, if `NAME` is the given one.
fn parse(text: &[u8], name: &[u8]) -> Option<Macro> {
    let rest = String::from_utf8_lossy(text.strip_prefix(name)?);
    if rest.is_empty() {
        return Some(Macro { body: String::new(), parameters: None });
    }
    if let Some(body) = rest.strip_prefix(' ') {
        return Some(Macro { body: body.trim().to_owned(), parameters: None });
    }
    let (parameters, body) = rest.strip_prefix('(')?.split_once(')')?;
    let parameters = parameters.split(',').map(str::trim).filter(|name| !name.is_empty());
    Some(Macro { parameters: Some(parameters.map(str::to_owned).collect()), body: body.trim().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macro_definition_splits_parameters_and_body() {
        let plain = |body: &str| Some(Macro { body: body.into(), parameters: None });
        assert_eq!(parse(b"SIZE 10", b"SIZE"), plain("10"));
        assert_eq!(parse(b"SIZE ", b"SIZE"), plain(""));
        assert_eq!(parse(b"SIZE", b"SIZE"), plain(""));
        assert_eq!(parse(b"SIZES 10", b"SIZE"), None);
        assert_eq!(parse(b"SIZE (10)", b"SIZE"), plain("(10)"));
        let max = parse(b"MAX(a,b) ((a) > (b) ? (a) : (b))", b"MAX").unwrap();
        assert_eq!(max.parameters, Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(max.body, "((a) > (b) ? (a) : (b))");
        assert_eq!(parse(b"NOW() time(0)", b"NOW").unwrap().parameters, Some(vec![]));
        assert_eq!(parse(b"SIZE(", b"SIZE"), None);
    }
}
