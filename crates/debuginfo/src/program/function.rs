//! A function and all its copies.

use super::line::prologue_end;
use super::{Loaded, Program};
use crate::functions::Number;
use crate::image::Die;
use crate::inlining;
use crate::names;
use crate::symbols::{Symbol, SymbolKind};
use std::ops::Range;

/// A function. Addresses are those of the process.
#[derive(Clone, Debug)]
pub struct Function {
    /// The image it is in.
    pub loaded: Loaded,
    /// Its qualified name, without parameters.
    pub name: String,
    /// Its name with parameters, in languages that tell functions apart by them.
    pub signature: Option<String>,
    /// The name that the linker knows.
    pub linkage_name: Option<String>,
    /// Its code; several ranges if the compiler took seldom used parts away. Empty if it is only inlined.
    pub ranges: Vec<Range<u64>>,
    /// Where calls to it go; `None` if it is only inlined.
    pub entry: Option<u64>,
    /// Where its body begins, behind the prologue; the entry in optimised code.
    pub prologue_end: Option<u64>,
    /// Its debug information: the entry with the code, or the abstract one if it is only inlined.
    pub die: Option<Die>,
    /// The places into which it is inlined.
    pub inlined: Vec<Inlined>,
    /// Whether it is said not to return.
    pub is_noreturn: bool,
    /// Whether it only finds out which function is to be called (`STT_GNU_IFUNC`).
    pub is_resolver: bool,
    /// Whether there is debug information for it; otherwise only its symbol is known.
    pub has_debug: bool,
}

/// A copy of a function inside another one.
#[derive(Clone, Debug)]
pub struct Inlined {
    /// Its first address.
    pub entry: u64,
    /// All its addresses. Empty if its instructions were merged with others: then the entry is where it would
    /// be.
    pub ranges: Vec<Range<u64>>,
    /// Its debug information.
    pub die: Die,
}

impl Program {
    /// The function that has an address in its code. For inlined functions see [`Program::inline_chain`].
    pub fn function_at(&self, address: u64) -> Option<Function> {
        let loaded = self.image_at(address)?;
        let in_file = loaded.in_file(address);
        let functions = loaded.image.functions();
        if let Some(number) = functions.at(in_file) {
            return Some(described(loaded, number, &[functions.root(number)]));
        }
        let symbol = loaded.image.symbol_table().at(in_file).filter(|symbol| symbol.is_code())?;
        Some(by_symbol(loaded, symbol))
    }
}

/// A function with debug information; `roots` are those of which the inlined copies are its own.
pub(super) fn described(loaded: &Loaded, number: Number, roots: &[Number]) -> Function {
    let image = &*loaded.image;
    let functions = image.functions();
    let (name, signature) = functions.full_name(image, number);
    let entry = functions.entry(number);
    let start = entry.filter(|entry| entry.has_code()).map(|entry| entry.start);
    let mut inlined: Vec<Inlined> = roots
        .iter()
        .flat_map(|root| functions.inlined(*root))
        .filter_map(|die| {
            let copy = inlining::copy(image, die)?;
            let ranges = copy.ranges.iter().filter(|range| image.is_code(range.start));
            image.is_code(copy.entry).then(|| Inlined {
                entry: loaded.address(copy.entry),
                ranges: ranges.map(|range| loaded.here(range)).collect(),
                die,
            })
        })
        .collect();
    inlined.sort_by_key(|copy| copy.entry);
    Function {
        loaded: loaded.clone(),
        name,
        signature,
        linkage_name: functions.linkage_name(image, number).map(Into::into),
        ranges: functions.ranges(number).iter().map(|range| loaded.here(range)).collect(),
        entry: start.map(|start| loaded.address(start)),
        prologue_end: start.and_then(|_| prologue_end(image, number)).map(|end| loaded.address(end)),
        die: entry.map(|entry| entry.die),
        inlined,
        is_noreturn: functions.is_noreturn(number),
        is_resolver: start.is_some_and(|start| {
            image.symbol_table().exactly_at(start).any(|symbol| symbol.kind == SymbolKind::Resolver)
        }),
        has_debug: true,
    }
}

/// A function of which only the symbol is known.
pub(super) fn by_symbol(loaded: &Loaded, symbol: &Symbol) -> Function {
    let text = symbol.text();
    let readable = names::demangle(&text);
    let start = loaded.address(symbol.address);
    Function {
        loaded: loaded.clone(),
        name: symbol_name(symbol),
        signature: readable.and_then(|readable| readable.signature),
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
    let name = names::demangle(&text).map_or_else(|| text.into_owned(), |readable| readable.name);
    if symbol.kind == SymbolKind::Stub { format!("{name}@plt") } else { name }
}
