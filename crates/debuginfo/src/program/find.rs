//! Lookup of functions by the names that users write.

use super::function::{from_debug_info, from_symbol, symbol_name};
use super::{Function, MappedImage, Program};
use crate::functions::{Functions, Number, is_rust};
use crate::image::Image;
use crate::lines::unit_path;
use crate::names::query::Query;
use crate::names::{self, path};
use crate::symbols::{Symbol, SymbolKind};
use invigil_suggest::all_near;
use std::collections::BTreeSet;
use std::path::Path;

impl Program {
    /// The functions that match a name, those of the program itself first. Forms: `f`, `ns::f`, `Class::method` or
    /// `Class.method`, `f(int)`, `<T as Trait>::m`, any suffix of a qualified name at a `::`, `file.c:f` for functions
    /// of one file, or the linkage name. All overloads, template instances and copies match.
    pub fn functions(&self, name: &str) -> Vec<Function> {
        let query = Query::parse(name);
        let mut found: Vec<Function> = Vec::new();
        for mapped in &self.images {
            // The debug information of large libraries is not searched for every name of the program: once the name has
            // been found, further images are searched only if they have a symbol of that name.
            let symbols = matching_symbols(&mapped.image, &query);
            if !found.is_empty() && symbols.is_empty() {
                continue;
            }
            found.extend(in_image(mapped, &query, symbols));
        }
        found
    }

    /// Names of functions that are similar to a name, nearest first.
    pub fn similar(&self, name: &str, limit: usize) -> Vec<String> {
        let query = Query::parse(name);
        let Some(wanted) = query.bases().last() else { return Vec::new() };
        let mut all: Vec<String> = Vec::new();
        for mapped in &self.images {
            if all.len() >= limit {
                break;
            }
            let functions = mapped.image.functions();
            let near = all_near(wanted, functions.bases().map(|(base, _)| base));
            for base in near.into_iter().take(limit) {
                all.extend(
                    functions
                        .with_base(base)
                        .iter()
                        .map(|number| functions.full_name(&mapped.image, *number).0),
                );
            }
            let symbols =
                function_symbols(&mapped.image).filter_map(|symbol| std::str::from_utf8(symbol.name).ok());
            all.extend(all_near(wanted, symbols).into_iter().take(limit).map(str::to_owned));
            let mut seen = BTreeSet::new();
            all.retain(|name| seen.insert(name.clone()));
        }
        all.truncate(limit);
        all
    }

    /// Sorted names of functions that start with a prefix, at the beginning or after a `::`.
    pub fn names_with_prefix(&self, prefix: &str, limit: usize) -> Vec<String> {
        let mut all = BTreeSet::new();
        let last = prefix.rsplit("::").next().unwrap_or(prefix);
        for mapped in &self.images {
            let functions = mapped.image.functions();
            let numbers =
                functions.bases().filter(|(base, _)| base.starts_with(last)).flat_map(|(_, numbers)| numbers);
            let described = numbers.map(|number| functions.full_name(&mapped.image, *number).0);
            let symbols = function_symbols(&mapped.image)
                .filter(|symbol| symbol.name.starts_with(b"_") || symbol.name.starts_with(prefix.as_bytes()))
                .map(symbol_name);
            for name in described.chain(symbols) {
                if name.starts_with(prefix)
                    || name.match_indices("::").any(|(at, _)| name[at + 2..].starts_with(prefix))
                {
                    all.insert(name);
                }
            }
            // The program's own names come before those of libraries.
            if all.len() >= limit {
                break;
            }
        }
        all.into_iter().take(limit).collect()
    }
}

/// The matching functions of one image.
fn in_image(mapped: &MappedImage, query: &Query, symbols: Vec<&Symbol>) -> Vec<Function> {
    let functions = mapped.image.functions();
    let mut found: Vec<Function> = Vec::new();
    for family in families(&mapped.image, functions, query) {
        found.extend(members(mapped, functions, &family));
    }
    let in_rust =
        found.iter().filter_map(|function| function.die).any(|die| is_rust(&mapped.image, die.unit));
    if query.file.is_some() || in_rust {
        // Symbols do not belong to a file. The symbol `main` is the C entry point, which calls Rust's
        // `main`.
        return found;
    }
    for symbol in symbols {
        let start = mapped.address(symbol.address);
        if found.iter().all(|function| function.entry != Some(start)) {
            found.push(at_symbol(mapped, functions, symbol));
        }
    }
    found
}

/// The function of a symbol. Its debug information may use another name: `malloc` is also `__libc_malloc`.
fn at_symbol(mapped: &MappedImage, functions: &Functions, symbol: &Symbol) -> Function {
    let number = functions.at(symbol.address);
    let is_start =
        |number: &Number| functions.entry(*number).is_some_and(|entry| entry.start == symbol.address);
    let function = from_symbol(mapped, symbol);
    match number.filter(is_start) {
        Some(number) => Function {
            name: function.name,
            linkage_name: function.linkage_name,
            ..from_debug_info(mapped, number, &[functions.root(number)])
        },
        None => function,
    }
}

/// The matching functions, grouped by function of the source.
fn families(image: &Image, functions: &Functions, query: &Query) -> Vec<Vec<Number>> {
    let mut families: Vec<(Option<String>, Number, Vec<Number>)> = Vec::new();
    let mut numbers: Vec<Number> =
        query.bases().flat_map(|base| functions.with_base(base)).copied().collect();
    if names::demangle(&query.text).is_some() {
        // For a linkage name, the demangled name of its function is used.
        let demangled = names::demangle(&query.text).map(|demangled| demangled.name).unwrap_or_default();
        let base = path::Path::parse(&demangled).segments.pop().unwrap_or_default();
        numbers.extend(functions.with_base(path::without_arguments(&base)));
    }
    numbers.sort_unstable();
    numbers.dedup();
    for number in numbers {
        let linkage = functions.linkage_name(image, number).map(String::from);
        let (name, signature) = functions.full_name(image, number);
        let is_meant = query.matches(&name, signature.as_deref(), linkage.as_deref())
            && query.file.as_deref().is_none_or(|file| is_in_file(image, functions, number, Path::new(file)));
        if !is_meant {
            continue;
        }
        let root = functions.root(number);
        let same = |family: &&mut (Option<String>, Number, Vec<Number>)| {
            family.1 == root || (linkage.is_some() && family.0 == linkage)
        };
        match families.iter_mut().find(same) {
            Some(family) => family.2.push(number),
            None => families.push((linkage, root, vec![number])),
        }
    }
    families.into_iter().map(|(_, _, numbers)| numbers).collect()
}

/// The functions with code among the entries of one function of the source. The first one gets the inlined instances.
fn members(mapped: &MappedImage, functions: &Functions, family: &[Number]) -> Vec<Function> {
    let roots: BTreeSet<Number> = family.iter().map(|number| functions.root(*number)).collect();
    let mut roots: Vec<Number> = roots.into_iter().collect();
    let mut starts = BTreeSet::new();
    let mut found = Vec::new();
    for number in family {
        let Some(entry) = functions.entry(*number).filter(|entry| entry.has_code()) else { continue };
        if starts.insert(entry.start) {
            found.push(from_debug_info(mapped, *number, &std::mem::take(&mut roots)));
        }
    }
    if let (true, Some(number)) = (found.is_empty(), family.first()) {
        let inlined = from_debug_info(mapped, *number, &roots);
        found.extend((!inlined.inlined.is_empty()).then_some(inlined));
    }
    found
}

/// Whether a function is defined in a file, or in the unit compiled from it.
fn is_in_file(image: &Image, functions: &Functions, number: Number, file: &Path) -> bool {
    let Some(entry) = functions.entry(number) else { return false };
    let unit = image.units().get(entry.die.unit);
    let declared = || {
        let root = functions.entry(functions.root(number))?.die;
        let unit = image.unit(root.unit)?;
        let described = unit.unit.entry(root.offset).ok()?;
        let number = match described.attr_value(gimli::DW_AT_decl_file)? {
            gimli::AttributeValue::FileIndex(number) => number,
            other => other.udata_value()?,
        };
        let table = image.lines().table(image, root.unit)?;
        Some(table.file(u32::try_from(number).ok()?)?.ends_with(file))
    };
    unit.is_some_and(|unit| unit_path(unit).ends_with(file)) || declared().unwrap_or(false)
}

/// The symbols of functions.
fn function_symbols(image: &Image) -> impl Iterator<Item = &Symbol> {
    image.symbols().iter().filter(|symbol| {
        matches!(symbol.kind, SymbolKind::Function | SymbolKind::Resolver)
            && !names::is_fragment(&symbol.text())
    })
}

/// The symbols of functions that match.
fn matching_symbols<'i>(image: &'i Image, query: &Query) -> Vec<&'i Symbol> {
    let bases: Vec<&str> = query.bases().collect();
    let is_meant = |symbol: &&Symbol| {
        let text = symbol.text();
        // Mangled names contain the segments of the name literally, except operators.
        if !bases.iter().any(|base| base.starts_with("operator") || text.contains(base)) {
            return false;
        }
        let name = names::without_clone_suffix(&text);
        match names::demangle(&text) {
            Some(demangled) => query.matches(&demangled.name, demangled.signature.as_deref(), Some(&text)),
            None => query.matches(name, None, Some(&text)),
        }
    };
    function_symbols(image).filter(is_meant).collect()
}
