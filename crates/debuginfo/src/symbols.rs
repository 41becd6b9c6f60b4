//! Symbol table of an image: names of code and data.

use crate::image::Image;
use object::elf::{self, Sym64};
use object::read::elf::{Rela, Sym, SymbolTable};
use object::{LittleEndian, Object, ObjectSection};
use std::borrow::Cow;
use std::collections::HashMap;

/// What a symbol names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// A function.
    Function,
    /// A function that returns the address of the function to call (`STT_GNU_IFUNC`).
    Resolver,
    /// A PLT stub that calls a function of another image.
    Stub,
    /// A variable.
    Data,
    /// A thread-local variable; the address is an offset.
    ThreadLocal,
    /// Unspecified; usually a label in assembly.
    Unknown,
}

/// One symbol. Addresses are those of the file.
#[derive(Clone, Copy, Debug)]
pub struct Symbol {
    /// The linkage name.
    pub name: &'static [u8],
    /// The start address.
    pub address: u64,
    /// Size in bytes; 0 if unknown.
    pub size: u64,
    /// What the symbol names.
    pub kind: SymbolKind,
    /// Whether other images can refer to it.
    pub is_global: bool,
}

impl Symbol {
    /// Whether the symbol names code that can be called.
    pub fn is_code(&self) -> bool {
        matches!(self.kind, SymbolKind::Function | SymbolKind::Resolver | SymbolKind::Stub)
    }

    /// The name as text.
    pub fn text(&self) -> Cow<'static, str> {
        String::from_utf8_lossy(self.name)
    }
}

/// All symbols of an image.
pub(crate) struct Symbols {
    /// Sorted by address; symbols of one address are sorted by preference.
    by_address: Vec<Symbol>,
    by_name: HashMap<&'static [u8], Vec<u32>>,
}

impl Symbols {
    pub(crate) fn read(image: &Image) -> Symbols {
        let mut all = Vec::new();
        for elf_file in image.elf_files() {
            add_table(&mut all, elf_file.elf.elf_symbol_table());
        }
        add_table(&mut all, image.elf_file().elf.elf_dynamic_symbol_table());
        add_stubs(&mut all, image);
        all.sort_by(|one, other| order(one).cmp(&order(other)));
        all.dedup_by(|one, other| one.address == other.address && one.name == other.name);
        let mut by_name: HashMap<&'static [u8], Vec<u32>> = HashMap::new();
        for (position, symbol) in (0_u32..).zip(&all) {
            by_name.entry(symbol.name).or_default().push(position);
        }
        Symbols { by_address: all, by_name }
    }

    pub(crate) fn all(&self) -> &[Symbol] {
        &self.by_address
    }

    /// The symbols with exactly this name, global ones first.
    pub(crate) fn named(&self, name: &str) -> impl Iterator<Item = &Symbol> {
        let mut found: Vec<&Symbol> = self
            .by_name
            .get(name.as_bytes())
            .map(|all| all.iter().filter_map(|at| self.by_address.get(*at as usize)).collect())
            .unwrap_or_default();
        found.sort_by_key(|symbol| !symbol.is_global);
        found.into_iter()
    }

    /// The symbol that starts at an address or contains it.
    pub(crate) fn at(&self, address: u64) -> Option<&Symbol> {
        let end = self.by_address.partition_point(|symbol| symbol.address <= address);
        // Nested symbols are rare, so a few steps back find the one that contains the address.
        let mut begin = None;
        for symbol in
            self.by_address[..end].iter().rev().filter(|symbol| symbol.kind != SymbolKind::ThreadLocal)
        {
            let first = *begin.get_or_insert(symbol.address);
            if first - symbol.address > 0x1_0000 {
                break;
            }
            if address - symbol.address < symbol.size {
                return self.exactly_at(symbol.address).find(|other| address - other.address < other.size);
            }
        }
        // No symbol contains the address: one without size extends to the next one.
        let begin = begin?;
        self.exactly_at(begin).find(|symbol| symbol.size == 0)
    }

    /// The start of the first symbol after an address.
    pub(crate) fn after(&self, address: u64) -> Option<u64> {
        let begin = self.by_address.partition_point(|symbol| symbol.address <= address);
        let mut following =
            self.by_address[begin..].iter().filter(|symbol| symbol.kind != SymbolKind::ThreadLocal);
        following.next().map(|symbol| symbol.address)
    }

    /// The symbols that start at an address, by preference.
    pub(crate) fn exactly_at(&self, address: u64) -> impl Iterator<Item = &Symbol> {
        let begin = self.by_address.partition_point(|symbol| symbol.address < address);
        self.by_address[begin..]
            .iter()
            .take_while(move |symbol| symbol.address == address)
            .filter(|symbol| symbol.kind != SymbolKind::ThreadLocal)
    }
}

/// Sort key: functions before others, global before local, names without leading underscores first.
fn order(symbol: &Symbol) -> (u64, bool, bool, bool, usize, &'static [u8]) {
    let underscores = symbol.name.iter().take_while(|byte| **byte == b'_').count();
    let mangled = symbol.name.starts_with(b"_Z") || symbol.name.starts_with(b"_R");
    (
        symbol.address,
        symbol.kind == SymbolKind::Unknown,
        !symbol.is_code(),
        !symbol.is_global,
        if mangled { 0 } else { underscores },
        symbol.name,
    )
}

fn add_table(all: &mut Vec<Symbol>, table: &SymbolTable<'static, elf::FileHeader64<LittleEndian>>) {
    for symbol in table.iter() {
        let Ok(name) = symbol.name(LittleEndian, table.strings()) else { continue };
        if name.is_empty() || symbol.is_undefined(LittleEndian) {
            continue;
        }
        let kind = match symbol.st_type() {
            elf::STT_FUNC => SymbolKind::Function,
            elf::STT_GNU_IFUNC => SymbolKind::Resolver,
            elf::STT_OBJECT | elf::STT_COMMON => SymbolKind::Data,
            elf::STT_TLS => SymbolKind::ThreadLocal,
            elf::STT_NOTYPE => SymbolKind::Unknown,
            _ => continue,
        };
        all.push(read_symbol(name, symbol, kind));
    }
}

fn read_symbol(name: &'static [u8], symbol: &Sym64<LittleEndian>, kind: SymbolKind) -> Symbol {
    Symbol {
        // Versions are removed: `memcpy@@GLIBC_2.14` is `memcpy`.
        name: name.split(|byte| *byte == b'@').next().filter(|name| !name.is_empty()).unwrap_or(name),
        address: symbol.st_value(LittleEndian),
        size: symbol.st_size(LittleEndian),
        kind,
        is_global: !symbol.is_local(),
    }
}

/// Size of one stub in the procedure linkage table.
const STUB: u64 = 16;

/// Names the stubs of the procedure linkage table after the functions that they call.
fn add_stubs(all: &mut Vec<Symbol>, image: &Image) {
    let elf_file = image.elf_file();
    // With indirect branch tracking, calls use a second table that has no header.
    let (table, header) = match (elf_file.section_range(".plt.sec"), elf_file.section_range(".plt")) {
        (Some(table), _) => (table, 0),
        (None, Some(table)) => (table, STUB),
        (None, None) => return,
    };
    let Some(section) = elf_file.elf.section_by_name(".rela.plt") else { return };
    let Ok(bytes) = section.data() else { return };
    let Ok((relocations, _)) = object::pod::slice_from_bytes::<elf::Rela64<LittleEndian>>(
        bytes,
        bytes.len() / size_of::<elf::Rela64<LittleEndian>>(),
    ) else {
        return;
    };
    let names = elf_file.elf.elf_dynamic_symbol_table();
    let mut address = table.start.saturating_add(header);
    for relocation in relocations {
        if address >= table.end {
            break;
        }
        let name = relocation
            .symbol(LittleEndian, false)
            .and_then(|index| names.symbol(index).ok())
            .and_then(|symbol| names.symbol_name(LittleEndian, symbol).ok())
            .filter(|name| !name.is_empty());
        if let Some(name) = name {
            all.push(Symbol { name, address, size: STUB, kind: SymbolKind::Stub, is_global: false });
        }
        address = address.saturating_add(STUB);
    }
}
