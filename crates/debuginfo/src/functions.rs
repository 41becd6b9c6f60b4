//! Functions in the debug information of one image, collected in one pass when first needed.

use crate::image::{Die, Image, Reader};
use crate::names::{self, path};
use gimli::{AttributeValue, DwAt, DwTag, UnitOffset, UnitRef};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// Index of a function in [`Functions`].
pub(crate) type Number = u32;

/// Marks the global scope.
const GLOBAL: u32 = u32::MAX;

/// DWARF entry of a function: a declaration, the abstract form of an inlined function, or one with code.
pub(crate) struct Entry {
    pub(crate) die: Die,
    scope: u32,
    name: Option<Reader>,
    linkage: Option<Reader>,
    /// The entry that this one completes: its declaration or its abstract form.
    origin: Option<Die>,
    /// Index of its first range, and the number of ranges.
    ranges: (u32, u32),
    /// The address that calls use.
    pub(crate) start: u64,
    pub(crate) is_noreturn: bool,
}

impl Entry {
    /// Whether the entry has code.
    pub(crate) fn has_code(&self) -> bool {
        self.ranges.1 > 0
    }
}

/// A namespace, type or function that encloses a function.
struct Scope {
    parent: u32,
    name: Option<Reader>,
}

/// All functions of an image. Addresses are those of the file.
pub(crate) struct Functions {
    /// In the order of the debug information, so that binary search finds the entry of a [`Die`].
    entries: Vec<Entry>,
    scopes: Vec<Scope>,
    ranges: Vec<Range<u64>>,
    /// Ranges of code, sorted by start address.
    by_address: Vec<(Range<u64>, Number)>,
    /// Functions with code or inlined instances, by the last segment of their name without type arguments.
    by_name: HashMap<Cow<'static, str>, Vec<Number>>,
    /// Inlined instances, each with the root of the inlined function.
    inlined: Vec<(Number, Die)>,
}

impl Functions {
    pub(crate) fn read(image: &Image) -> Functions {
        let mut functions = Functions {
            entries: Vec::new(),
            scopes: Vec::new(),
            ranges: Vec::new(),
            by_address: Vec::new(),
            by_name: HashMap::new(),
            inlined: Vec::new(),
        };
        let mut instances = Vec::new();
        for number in 0..image.units().len() {
            if let Some(unit) = image.unit(number) {
                let mut pass =
                    Pass { image, unit, number, functions: &mut functions, instances: &mut instances };
                // Entries read before a malformed one are kept.
                let _ = pass.run();
            }
        }
        functions.finish(&instances);
        functions
    }

    fn finish(&mut self, instances: &[(Die, Die)]) {
        for (number, entry) in (0..).zip(&self.entries) {
            let (first, count) = entry.ranges;
            for range in self.ranges.iter().skip(first as usize).take(count as usize) {
                self.by_address.push((range.clone(), number));
            }
        }
        self.by_address.sort_by_key(|(range, number)| (range.start, *number));
        // If several units contain the same function, the linker keeps one, and the entries of all units refer to it.
        self.by_address.dedup_by_key(|(range, _)| range.start);
        let mut inlined: Vec<(Number, Die)> =
            instances.iter().filter_map(|(of, at)| Some((self.root(self.number(*of)?), *at))).collect();
        inlined.sort_unstable();
        self.inlined = inlined;
        let mut previous = None;
        let with_instances: Vec<Number> = self
            .inlined
            .iter()
            .map(|(root, _)| *root)
            .filter(|root| previous.replace(*root) != Some(*root))
            .collect();
        let with_code =
            (0..).zip(&self.entries).filter(|(_, entry)| entry.has_code()).map(|(number, _)| number);
        let mut by_name: HashMap<Cow<'static, str>, Vec<Number>> = HashMap::new();
        for number in with_code.chain(with_instances) {
            if let Some(base) = self.base_name(number) {
                by_name.entry(base).or_default().push(number);
            }
        }
        self.by_name = by_name;
    }

    pub(crate) fn entry(&self, number: Number) -> Option<&Entry> {
        self.entries.get(number as usize)
    }

    /// The function that an entry describes.
    pub(crate) fn number(&self, die: Die) -> Option<Number> {
        let at = self.entries.binary_search_by_key(&die, |entry| entry.die).ok()?;
        Number::try_from(at).ok()
    }

    /// The function whose code contains an address.
    pub(crate) fn at(&self, address: u64) -> Option<Number> {
        let after = self.by_address.partition_point(|(range, _)| range.start <= address);
        // Ranges do not overlap, except in unusual programs where one function is nested in another.
        let candidates = self.by_address[..after].iter().rev().take(4);
        candidates.filter(|(range, _)| range.contains(&address)).map(|(_, number)| *number).next()
    }

    /// The ranges of the code of a function.
    pub(crate) fn ranges(&self, number: Number) -> &[Range<u64>] {
        let (first, count) = self.entry(number).map_or((0, 0), |entry| entry.ranges);
        self.ranges.get(first as usize..(first + count) as usize).unwrap_or_default()
    }

    /// The functions whose name has this last segment.
    pub(crate) fn with_base(&self, base: &str) -> &[Number] {
        self.by_name.get(base).map_or(&[], Vec::as_slice)
    }

    /// The last segments of all names.
    pub(crate) fn bases(&self) -> impl Iterator<Item = (&str, &[Number])> {
        self.by_name.iter().map(|(base, numbers)| (base.as_ref(), numbers.as_slice()))
    }

    /// The entry from which a function originates: its declaration, or the abstract form of all its instances.
    pub(crate) fn root(&self, number: Number) -> Number {
        self.chain(number).last().unwrap_or(number)
    }

    /// The inlined instances of the function with that root.
    pub(crate) fn inlined(&self, root: Number) -> impl Iterator<Item = Die> {
        let begin = self.inlined.partition_point(|(number, _)| *number < root);
        self.inlined[begin..].iter().take_while(move |(number, _)| *number == root).map(|(_, die)| *die)
    }

    /// The linkage name. Compilers omit it for functions that are local to a unit; then the symbol at the entry address
    /// provides it.
    pub(crate) fn linkage_name(&self, image: &Image, number: Number) -> Option<Cow<'static, str>> {
        if let Some(found) = self.chain(number).find_map(|at| self.entry(at)?.linkage) {
            return Some(text(found));
        }
        let entry = self.entry(number).filter(|entry| entry.has_code())?;
        let symbol = image.symbol_table().at(entry.start).filter(|symbol| symbol.address == entry.start)?;
        (symbol.name.starts_with(b"_Z") || symbol.name.starts_with(b"_R")).then(|| symbol.text())
    }

    /// Whether the function is declared not to return.
    pub(crate) fn is_noreturn(&self, number: Number) -> bool {
        self.chain(number).any(|at| self.entry(at).is_some_and(|entry| entry.is_noreturn))
    }

    /// The qualified name, and the same with parameters if these are known.
    pub(crate) fn full_name(&self, image: &Image, number: Number) -> (String, Option<String>) {
        let linkage = self.linkage_name(image, number);
        let demangled = linkage.as_deref().and_then(names::demangle);
        let is_rust = self.entry(number).is_some_and(|entry| is_rust(image, entry.die.unit));
        if let (true, Some(demangled)) = (is_rust, &demangled) {
            return (demangled.name.clone(), None);
        }
        let signature = demangled.as_ref().and_then(|demangled| demangled.signature.clone());
        match self.scoped_name(number) {
            Some(name) => (name, signature),
            None => (demangled.map_or_else(|| "(unnamed)".to_owned(), |demangled| demangled.name), signature),
        }
    }

    fn scoped_name(&self, number: Number) -> Option<String> {
        let (entry, name) = self.chain(number).find_map(|at| {
            let entry = self.entry(at)?;
            Some((entry, entry.name?))
        })?;
        // The scope of a definition is where it is written; the scope of its declaration is what it belongs to.
        let scope = self
            .chain(number)
            .last()
            .and_then(|root| self.entry(root))
            .map_or(entry.scope, |root| root.scope);
        let mut parts = vec![text(name)];
        let mut at = scope;
        while let Some(scope) = self.scopes.get(at as usize) {
            parts.push(scope.name.map_or(Cow::Borrowed("(anonymous namespace)"), text));
            at = scope.parent;
        }
        parts.reverse();
        Some(parts.join("::"))
    }

    fn base_name(&self, number: Number) -> Option<Cow<'static, str>> {
        let name = self.chain(number).find_map(|at| self.entry(at)?.name)?;
        Some(match text(name) {
            Cow::Borrowed(name) => Cow::Borrowed(path::without_arguments(name)),
            Cow::Owned(name) => Cow::Owned(path::without_arguments(&name).to_owned()),
        })
    }

    /// An entry, the one that it completes, the one that this completes, and so on.
    fn chain(&self, number: Number) -> impl Iterator<Item = Number> {
        let next = |at: &Number| self.number(self.entry(*at)?.origin?);
        // Malformed files may contain cycles.
        std::iter::successors(Some(number), next).take(8)
    }
}

/// Whether a unit was written in Rust.
pub(crate) fn is_rust(image: &Image, unit: usize) -> bool {
    let Some(unit) = image.unit(unit) else { return false };
    let Ok(root) = unit.unit.entry(unit.header.root_offset()) else { return false };
    root.attr_value(gimli::DW_AT_language) == Some(AttributeValue::Language(gimli::DW_LANG_Rust))
}

fn text(name: Reader) -> Cow<'static, str> {
    String::from_utf8_lossy(name.slice())
}

/// The pass over one unit.
struct Pass<'a> {
    image: &'a Image,
    unit: UnitRef<'a, Reader>,
    number: usize,
    functions: &'a mut Functions,
    /// The inlined functions, each with an instance of it.
    instances: &'a mut Vec<(Die, Die)>,
}

/// The attributes of an entry that are used here.
#[derive(Default)]
struct Attributes {
    name: Option<Reader>,
    linkage: Option<Reader>,
    origin: Option<Die>,
    low: Option<u64>,
    high: Option<AttributeValue<Reader>>,
    ranges: Option<AttributeValue<Reader>>,
    is_noreturn: bool,
}

impl Pass<'_> {
    fn run(&mut self) -> gimli::Result<()> {
        let unit = self.unit;
        let mut entries = unit.unit.entries_raw(None)?;
        // The enclosing scopes, each with its depth.
        let mut enclosing: Vec<(isize, u32)> = Vec::new();
        while !entries.is_empty() {
            let offset = entries.next_offset();
            let depth = entries.next_depth();
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            while enclosing.last().is_some_and(|(outer, _)| *outer >= depth) {
                enclosing.pop();
            }
            let tag = abbreviation.tag();
            if !is_interesting(tag, abbreviation.has_children()) {
                entries.skip_attributes(abbreviation.attributes())?;
                continue;
            }
            let mut attributes = Attributes::default();
            for specification in abbreviation.attributes() {
                let attribute = entries.read_attribute(*specification)?;
                self.note(&mut attributes, attribute.name(), attribute.value());
            }
            let scope = enclosing.last().map_or(GLOBAL, |(_, scope)| *scope);
            match tag {
                gimli::DW_TAG_inlined_subroutine => {
                    if let Some(of) = attributes.origin {
                        self.instances.push((of, self.die(offset)));
                    }
                }
                gimli::DW_TAG_subprogram => {
                    let name = attributes.name;
                    self.add_function(offset, scope, attributes);
                    if abbreviation.has_children() && name.is_some() {
                        enclosing.push((depth, self.add_scope(scope, name)));
                    }
                }
                _ => {
                    // Unnamed types are not part of the names of their members.
                    if attributes.name.is_some() || tag == gimli::DW_TAG_namespace {
                        enclosing.push((depth, self.add_scope(scope, attributes.name)));
                    }
                }
            }
        }
        Ok(())
    }

    fn die(&self, offset: UnitOffset) -> Die {
        Die { unit: self.number, offset }
    }

    fn add_scope(&mut self, parent: u32, name: Option<Reader>) -> u32 {
        let Ok(number) = u32::try_from(self.functions.scopes.len()) else { return parent };
        self.functions.scopes.push(Scope { parent, name });
        number
    }

    fn note(&self, attributes: &mut Attributes, name: DwAt, value: AttributeValue<Reader>) {
        match name {
            gimli::DW_AT_name => attributes.name = self.unit.attr_string(value).ok(),
            gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name => {
                attributes.linkage = self.unit.attr_string(value).ok();
            }
            gimli::DW_AT_specification | gimli::DW_AT_abstract_origin => {
                attributes.origin = self.image.resolve(self.number, value);
            }
            gimli::DW_AT_low_pc => attributes.low = self.unit.attr_address(value).ok().flatten(),
            gimli::DW_AT_high_pc => attributes.high = Some(value),
            gimli::DW_AT_ranges => attributes.ranges = Some(value),
            gimli::DW_AT_noreturn => attributes.is_noreturn = value == AttributeValue::Flag(true),
            _ => {}
        }
    }

    fn add_function(&mut self, offset: UnitOffset, scope: u32, attributes: Attributes) {
        let Ok(first) = u32::try_from(self.functions.ranges.len()) else { return };
        self.add_ranges(&attributes);
        let own = &self.functions.ranges[first as usize..];
        let count = u32::try_from(own.len()).unwrap_or(0);
        let start = attributes.low.filter(|low| own.iter().any(|range| range.start == *low));
        let start = start.or(own.first().map(|range| range.start)).unwrap_or(0);
        self.functions.entries.push(Entry {
            die: self.die(offset),
            scope,
            name: attributes.name,
            linkage: attributes.linkage,
            origin: attributes.origin,
            ranges: (first, count),
            start,
            is_noreturn: attributes.is_noreturn,
        });
    }

    fn add_ranges(&mut self, attributes: &Attributes) {
        let mut add = |range: Range<u64>| {
            // Discarded functions have an address at which there is no code.
            if range.start < range.end && self.image.is_code(range.start) {
                self.functions.ranges.push(range);
            }
        };
        if let Some(mut ranges) =
            attributes.ranges.and_then(|value| self.unit.attr_ranges(value).ok().flatten())
        {
            while let Ok(Some(range)) = ranges.next() {
                add(range.begin..range.end);
            }
        } else if let (Some(low), Some(high)) = (attributes.low, attributes.high) {
            let end = match high {
                AttributeValue::Udata(size) => low.checked_add(size),
                other => self.unit.attr_address(other).ok().flatten(),
            };
            if let Some(end) = end {
                add(low..end);
            }
        }
    }
}

fn is_interesting(tag: DwTag, has_children: bool) -> bool {
    match tag {
        gimli::DW_TAG_subprogram | gimli::DW_TAG_inlined_subroutine => true,
        gimli::DW_TAG_namespace
        | gimli::DW_TAG_module
        | gimli::DW_TAG_structure_type
        | gimli::DW_TAG_class_type
        | gimli::DW_TAG_union_type
        | gimli::DW_TAG_interface_type
        | gimli::DW_TAG_enumeration_type => has_children,
        _ => false,
    }
}
