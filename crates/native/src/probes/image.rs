//! The image of the probe library, relocated to a load address.

use super::fast_path_check::{self, Function};
use invigil_probe::agent::{BOUND, ENTRY_POINT_COUNT, EntryPoints};
use object::read::elf::ElfFile64;
use object::{
    Endianness, Object, ObjectSegment, ObjectSymbol, ObjectSymbolTable, RelocationFlags, RelocationTarget,
    SegmentFlags, SymbolKind, elf,
};
use std::ops::Range;

/// The image of the library.
#[derive(Debug)]
pub(crate) struct Image {
    /// Its bytes, from the load address on.
    pub(crate) bytes: Vec<u8>,
    /// Address range of its code.
    pub(crate) code: Range<u64>,
    /// Addresses of its functions.
    pub(crate) entry_points: EntryPoints<u64>,
    /// Address of its control block.
    pub(crate) control: u64,
    /// Why its [fast path](super::fast_path_check) is disabled, if it is.
    pub(crate) slow_path_only: Option<String>,
}

const PAGE: u64 = 4096;
/// Sanity limit for the size of the library.
const MAX_IMAGE_SIZE: u64 = 1 << 30;

/// Reads the library and relocates it to `base`.
pub(crate) fn read(file: &[u8], base: u64) -> Result<Image, String> {
    let elf = ElfFile64::<Endianness>::parse(file).map_err(|error| error.to_string())?;
    let end = elf.segments().map(|segment| segment.address() + segment.size()).max().unwrap_or(0);
    match end {
        0 => return Err("it has no segments".to_owned()),
        MAX_IMAGE_SIZE.. => return Err("it is too large".to_owned()),
        _ => {}
    }
    let mut bytes = vec![0; end.next_multiple_of(PAGE) as usize];
    let mut code = Range { start: u64::MAX, end: 0 };
    for segment in elf.segments() {
        let data = segment.data().map_err(|error| error.to_string())?;
        let start = segment.address() as usize;
        bytes
            .get_mut(start..start + data.len())
            .ok_or("a segment is outside of the image")?
            .copy_from_slice(data);
        if let SegmentFlags::Elf { p_flags, .. } = segment.flags()
            && p_flags.contains(elf::PF_X)
        {
            code.start = code.start.min(base + segment.address() / PAGE * PAGE);
            code.end = code.end.max(base + (segment.address() + segment.size()).next_multiple_of(PAGE));
        }
    }
    let mut image = Image {
        bytes,
        code,
        entry_points: EntryPoints::from_words([0; ENTRY_POINT_COUNT]),
        control: 0,
        slow_path_only: None,
    };
    let symbols = elf.dynamic_symbol_table().ok_or("it has no dynamic symbols")?;
    let address_of = |name: &str| {
        let found = symbols.symbols().find(|symbol| symbol.is_definition() && symbol.name() == Ok(name));
        found.map(|symbol| symbol.address()).ok_or_else(|| format!("it has no `{name}`"))
    };
    // Relative relocations come first: the table of functions gives the addresses of imports.
    let all: Vec<_> = elf.dynamic_relocations().ok_or("it has no dynamic relocations")?.collect();
    for (at, relocation) in &all {
        if kind(relocation) == elf::R_X86_64_RELATIVE {
            image.put(*at, base.wrapping_add_signed(relocation.addend()))?;
        }
    }
    let table = address_of("INVIGIL_ENTRY_POINTS")?;
    let mut words = [0; ENTRY_POINT_COUNT];
    for (n, word) in words.iter_mut().enumerate() {
        *word = image.get(table + 8 * n as u64)?;
    }
    image.entry_points = EntryPoints::from_words(words);
    image.control = base + address_of("INVIGIL_CONTROL")?;
    for (at, relocation) in &all {
        let kind = kind(relocation);
        match kind {
            elf::R_X86_64_RELATIVE => {}
            elf::R_X86_64_GLOB_DAT | elf::R_X86_64_JUMP_SLOT | elf::R_X86_64_64 => {
                let RelocationTarget::Symbol(index) = relocation.target() else {
                    return Err("a relocation has no symbol".to_owned());
                };
                let symbol = symbols.symbol_by_index(index).map_err(|error| error.to_string())?;
                let address = match symbol.is_undefined() {
                    false => base + symbol.address(),
                    true => image.import_address(symbol.name().unwrap_or_default(), symbol.is_weak()),
                };
                let addend = if kind == elf::R_X86_64_64 { relocation.addend() } else { 0 };
                image.put(*at, address.wrapping_add_signed(addend))?;
            }
            // Thread-local variables: only the panic path uses them.
            elf::R_X86_64_DTPMOD64 | elf::R_X86_64_DTPOFF64 | elf::R_X86_64_TPOFF64 => {}
            other => return Err(format!("it needs a relocation of the kind {other:?}")),
        }
    }
    image.slow_path_only = fast_path_check::check(&mut image, base, &functions(&elf, base))?;
    Ok(image)
}

/// The functions of the library that have symbols, in order.
fn functions(elf: &ElfFile64<'_, Endianness>, base: u64) -> Vec<Function> {
    let is_panic = |name: &str| {
        name.contains("4core") && ["panic", "_fail", "unwrap_failed"].iter().any(|word| name.contains(word))
    };
    let named = elf.symbols().filter(|symbol| symbol.is_definition() && symbol.kind() == SymbolKind::Text);
    let mut functions: Vec<Function> = named
        .map(|symbol| {
            let start = base + symbol.address();
            let is_panic = symbol.name().is_ok_and(is_panic);
            Function { range: start..start + symbol.size(), is_panic }
        })
        .collect();
    functions.sort_unstable_by_key(|function| function.range.start);
    functions
}

fn kind(relocation: &object::Relocation) -> elf::RelocationType {
    match relocation.flags() {
        RelocationFlags::Elf { r_type } => r_type,
        _ => elf::R_X86_64_NONE,
    }
}

impl Image {
    fn slot(&mut self, at: u64) -> Result<&mut [u8], String> {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        self.bytes
            .get_mut(at..at.saturating_add(8))
            .ok_or_else(|| "an address is outside of the image".to_owned())
    }

    fn put(&mut self, at: u64, word: u64) -> Result<(), String> {
        self.slot(at).map(|slot| slot.copy_from_slice(&word.to_le_bytes()))
    }

    fn get(&mut self, at: u64) -> Result<u64, String> {
        let mut word = [0; 8];
        self.slot(at).map(|slot| word.copy_from_slice(slot))?;
        Ok(u64::from_le_bytes(word))
    }

    /// Address for an imported name.
    fn import_address(&self, name: &str, is_weak: bool) -> u64 {
        let known = BOUND.iter().position(|bound| *bound == name).map(|at| self.entry_points.bound[at]);
        known.unwrap_or(if is_weak { 0 } else { self.entry_points.unbound })
    }
}
