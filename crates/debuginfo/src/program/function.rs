//! Functions with all their copies.

use super::line::prologue_end;
use super::{MappedImage, Program};
use crate::functions::Number;
use crate::image::Die;
use crate::inlining;
use crate::names;
use crate::symbols::{Symbol, SymbolKind};
use std::ops::Range;

/// A function. Addresses are those of the process.
#[derive(Clone, Debug)]
pub struct Function {
    /// The image that contains it.
    pub mapped: MappedImage,
    /// The qualified name without parameters.
    pub name: String,
    /// The name with parameters, in languages with overloading.
    pub signature: Option<String>,
    /// The linkage name.
    pub linkage_name: Option<String>,
    /// Its code: several ranges if the compiler moved cold parts away, empty if it is only inlined.
    pub ranges: Vec<Range<u64>>,
    /// The address that calls use; `None` if it is only inlined.
    pub entry: Option<u64>,
    /// The start of its body, after the prologue. In optimised code this is the entry.
    pub prologue_end: Option<u64>,
    /// The DWARF entry: the one with the code, or the abstract one if the function is only inlined.
    pub die: Option<Die>,
    /// The inlined instances.
    pub inlined: Vec<Inlined>,
    /// Whether it is declared not to return.
    pub is_noreturn: bool,
    /// Whether it returns the address of the function to call (`STT_GNU_IFUNC`).
    pub is_resolver: bool,
    /// Whether there is debug information for it. Otherwise only its symbol is known.
    pub has_debug: bool,
}

/// An instance of a function that is inlined into another one.
#[derive(Clone, Debug)]
pub struct Inlined {
    /// The first address.
    pub entry: u64,
    /// All address ranges. Empty if its instructions were merged with others; then `entry` is where it would be.
    pub ranges: Vec<Range<u64>>,
    /// The DWARF entry.
    pub die: Die,
}

impl Program {
    /// The function whose code contains an address. For inlined functions see [`Program::inline_chain`].
    pub fn function_at(&self, address: u64) -> Option<Function> {
        let mapped = self.image_at(address)?;
        let in_file = mapped.in_file(address);
        let functions = mapped.image.functions();
        if let Some(number) = functions.at(in_file) {
            return Some(from_debug_info(mapped, number, &[functions.root(number)]));
        }
        let symbol = mapped.image.symbol_table().at(in_file).filter(|symbol| symbol.is_code())?;
        Some(from_symbol(mapped, symbol))
    }
}

/// Describes a function with debug information; `roots` are the functions whose inlined instances belong to it.
pub(super) fn from_debug_info(mapped: &MappedImage, number: Number, roots: &[Number]) -> Function {
    let image = &*mapped.image;
    let functions = image.functions();
    let (name, signature) = functions.full_name(image, number);
    let entry = functions.entry(number);
    let start = entry.filter(|entry| entry.has_code()).map(|entry| entry.start);
    let mut inlined: Vec<Inlined> = roots
        .iter()
        .flat_map(|root| functions.inlined(*root))
        .filter_map(|die| {
            let instance = inlining::instance(image, die)?;
            let ranges = instance.ranges.iter().filter(|range| image.is_code(range.start));
            image.is_code(instance.entry).then(|| Inlined {
                entry: mapped.address(instance.entry),
                ranges: ranges.map(|range| mapped.address_range(range)).collect(),
                die,
            })
        })
        .collect();
    inlined.sort_by_key(|instance| instance.entry);
    Function {
        mapped: mapped.clone(),
        name,
        signature,
        linkage_name: functions.linkage_name(image, number).map(Into::into),
        ranges: functions.ranges(number).iter().map(|range| mapped.address_range(range)).collect(),
        entry: start.map(|start| mapped.address(start)),
        prologue_end: start.and_then(|_| prologue_end(image, number)).map(|end| mapped.address(end)),
        die: entry.map(|entry| entry.die),
        inlined,
        is_noreturn: functions.is_noreturn(number),
        is_resolver: start.is_some_and(|start| {
            image.symbol_table().exactly_at(start).any(|symbol| symbol.kind == SymbolKind::Resolver)
        }),
        has_debug: true,
    }
}

/// Describes a function that is known only by its symbol.
pub(super) fn from_symbol(mapped: &MappedImage, symbol: &Symbol) -> Function {
    let text = symbol.text();
    let demangled = names::demangle(&text);
    let start = mapped.address(symbol.address);
    Function {
        mapped: mapped.clone(),
        name: symbol_name(symbol),
        signature: demangled.and_then(|demangled| demangled.signature),
        linkage_name: Some(text.into_owned()),
        ranges: if symbol.size > 0 {
            std::iter::once(start..start.wrapping_add(symbol.size)).collect()
        } else {
            Vec::new()
        },
        entry: Some(start),
        prologue_end: Some(start),
        die: None,
        inlined: Vec::new(),
        is_noreturn: false,
        is_resolver: symbol.kind == SymbolKind::Resolver,
        has_debug: false,
    }
}

/// The readable name of a symbol.
pub(super) fn symbol_name(symbol: &Symbol) -> String {
    let text = symbol.text();
    let name = names::demangle(&text).map_or_else(|| text.into_owned(), |demangled| demangled.name);
    if symbol.kind == SymbolKind::Stub { format!("{name}@plt") } else { name }
}
