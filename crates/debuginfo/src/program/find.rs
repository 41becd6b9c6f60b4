//! Functions by the names that users write.

use super::function::{by_symbol, described, symbol_name};
use super::{Function, Loaded, Program};
use crate::functions::{Functions, Number, is_rust};
use crate::image::Image;
use crate::lines::unit_path;
use crate::names::query::Query;
use crate::names::{self, path, similar};
use crate::symbols::{Symbol, SymbolKind};
use std::collections::BTreeSet;
use std::path::Path;

impl Program {
    /// The functions that a user means by a name, those of the program itself first: `f`, `ns::f`,
    /// `Class::method` or `Class.method`, `f(int)`, `<T as Trait>::m`, or any end of a qualified name at a `::`;
    /// `file.c:f` for functions of one file; or the name that the linker knows. All overloads, instances of
    /// templates and copies are there.
    pub fn functions(&self, name: &str) -> Vec<Function> {
        let query = Query::parse(name);
        let mut found: Vec<Function> = Vec::new();
        for loaded in &self.images {
            // The debug information of a large library is not searched for every name of the program: where
            // the name was found before, a library counts if it has a symbol of that name.
            let symbols = matching_symbols(&loaded.image, &query);
            if !found.is_empty() && symbols.is_empty() {
                continue;
            }
            found.extend(in_image(loaded, &query, symbols));
        }
        found
    }

    /// Names of functions that look like one, the nearest first.
    pub fn similar(&self, name: &str, limit: usize) -> Vec<String> {
        let query = Query::parse(name);
        let Some(wanted) = query.bases().last() else { return Vec::new() };
        let mut all: Vec<String> = Vec::new();
        for loaded in &self.images {
            if all.len() >= limit {
                break;
            }
            let functions = loaded.image.functions();
            let near = similar::nearest(wanted, functions.bases().map(|(base, _)| base), limit);
            for base in &near {
                all.extend(
                    functions
                        .with_base(base)
                        .iter()
                        .map(|number| functions.full_name(&loaded.image, *number).0),
                );
            }
            let symbols = callable(&loaded.image).filter_map(|symbol| std::str::from_utf8(symbol.name).ok());
            all.extend(similar::nearest(wanted, symbols, limit));
            let mut seen = BTreeSet::new();
            all.retain(|name| seen.insert(name.clone()));
        }
        all.truncate(limit);
        all
    }

    /// Names of functions that begin with a text, or have a part after `::` that begins with it. Sorted.
    pub fn names_with_prefix(&self, prefix: &str, limit: usize) -> Vec<String> {
        let mut all = BTreeSet::new();
        let last = prefix.rsplit("::").next().unwrap_or(prefix);
        for loaded in &self.images {
            let functions = loaded.image.functions();
            let numbers =
                functions.bases().filter(|(base, _)| base.starts_with(last)).flat_map(|(_, numbers)| numbers);
            let described = numbers.map(|number| functions.full_name(&loaded.image, *number).0);
            let symbols = callable(&loaded.image)
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

/// The functions of one image that are meant.
fn in_image(loaded: &Loaded, query: &Query, symbols: Vec<&Symbol>) -> Vec<Function> {
    let functions = loaded.image.functions();
    let mut found: Vec<Function> = Vec::new();
    for family in families(&loaded.image, functions, query) {
        found.extend(members(loaded, functions, &family));
    }
    let in_rust =
        found.iter().filter_map(|function| function.die).any(|die| is_rust(&loaded.image, die.unit));
    if query.file.is_some() || in_rust {
        // Symbols are in no file; and beside Rust's `main` the linker's is only what calls it.
        return found;
    }
    for symbol in symbols {
        let start = loaded.address(symbol.address);
        if found.iter().all(|function| function.entry != Some(start)) {
            found.push(at_symbol(loaded, functions, symbol));
        }
    }
    found
}

/// The function of a symbol. Its debug information may know it by another name: `malloc` is also
/// `__libc_malloc`.
fn at_symbol(loaded: &Loaded, functions: &Functions, symbol: &Symbol) -> Function {
    let number = functions.at(symbol.address);
    let is_start =
        |number: &Number| functions.entry(*number).is_some_and(|entry| entry.start == symbol.address);
    let plain = by_symbol(loaded, symbol);
    match number.filter(is_start) {
        Some(number) => Function {
            name: plain.name,
            linkage_name: plain.linkage_name,
            ..described(loaded, number, &[functions.root(number)])
        },
        None => plain,
    }
}

/// The functions that are meant, those together that are one function in the source.
fn families(image: &Image, functions: &Functions, query: &Query) -> Vec<Vec<Number>> {
    let mut families: Vec<(Option<String>, Number, Vec<Number>)> = Vec::new();
    let mut numbers: Vec<Number> =
        query.bases().flat_map(|base| functions.with_base(base)).copied().collect();
    if names::demangle(&query.text).is_some() {
        // A linkage name: its function has an unmangled name of its own.
        let readable = names::demangle(&query.text).map(|readable| readable.name).unwrap_or_default();
        let base = path::Path::parse(&readable).segments.pop().unwrap_or_default();
        numbers.extend(functions.with_base(path::without_arguments(&base)));
    }
    numbers.sort_unstable();
    numbers.dedup();
    for number in numbers {
        let linkage = functions.linkage_name(image, number).map(String::from);
        let (name, signature) = functions.full_name(image, number);
        let is_meant = query.means(&name, signature.as_deref(), linkage.as_deref())
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

/// The functions with code among the entries of one function of the source. The inlined copies belong to the
/// first.
fn members(loaded: &Loaded, functions: &Functions, family: &[Number]) -> Vec<Function> {
    let roots: BTreeSet<Number> = family.iter().map(|number| functions.root(*number)).collect();
    let mut roots: Vec<Number> = roots.into_iter().collect();
    let mut starts = BTreeSet::new();
    let mut found = Vec::new();
    for number in family {
        let Some(entry) = functions.entry(*number).filter(|entry| entry.has_code()) else { continue };
        if starts.insert(entry.start) {
            found.push(described(loaded, *number, &std::mem::take(&mut roots)));
        }
    }
    if let (true, Some(number)) = (found.is_empty(), family.first()) {
        let inlined = described(loaded, *number, &roots);
        found.extend((!inlined.inlined.is_empty()).then_some(inlined));
    }
    found
}

/// Whether a function was written in a file, or compiled with it.
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
fn callable(image: &Image) -> impl Iterator<Item = &Symbol> {
    image.symbols().iter().filter(|symbol| {
        matches!(symbol.kind, SymbolKind::Function | SymbolKind::Resolver)
            && !names::is_fragment(&symbol.text())
    })
}

/// The symbols of functions that are meant.
fn matching_symbols<'i>(image: &'i Image, query: &Query) -> Vec<&'i Symbol> {
    let bases: Vec<&str> = query.bases().collect();
    let is_meant = |symbol: &&Symbol| {
        let text = symbol.text();
        // Mangled names spell out the parts of the name, except operators.
        if !bases.iter().any(|base| base.starts_with("operator") || text.contains(base)) {
            return false;
        }
        let name = names::without_clone(&text);
        match names::demangle(&text) {
            Some(readable) => query.means(&readable.name, readable.signature.as_deref(), Some(&text)),
            None => query.means(name, None, Some(&text)),
        }
    };
    callable(image).filter(is_meant).collect()
}
