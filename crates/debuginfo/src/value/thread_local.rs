//! Addresses of thread-local variables.

use crate::image::Image;
use crate::value::scope::Scope;
use crate::value::typed_value::Unavailable;
use object::read::elf::ProgramHeader;
use object::{Object, ObjectSymbol, ObjectSymbolTable, RelocationFlags, RelocationTarget, elf};

impl Scope<'_> {
    /// The address of a thread-local variable, given its offset in the thread-local storage of its image.
    pub(crate) fn thread_local(&self, image: usize, offset: u64) -> Result<u64, Unavailable> {
        let base = self.registers(0).map_or(0, |registers| registers.thread_base);
        let file = self.info.image(image).ok_or(Unavailable::ThreadLocal)?;
        if base == 0 {
            return Err(Unavailable::ThreadLocal);
        }
        if self.is_main(image) {
            // The storage of the program itself ends at the thread control block.
            let size = storage_size(file).ok_or(Unavailable::ThreadLocal)?;
            return Ok(base.wrapping_sub(size).wrapping_add(offset));
        }
        self.address_in_library(file, self.info.bias(image), base, offset).ok_or(Unavailable::ThreadLocal)
    }

    /// The dynamic loader records the storage of a library in its GOT: as an offset from the thread control block, or
    /// as an index into the dynamic thread vector.
    fn address_in_library(&self, file: &Image, bias: u64, base: u64, offset: u64) -> Option<u64> {
        let elf = &file.elf_file().elf;
        let symbols = elf.dynamic_symbol_table()?;
        for (at, relocation) in elf.dynamic_relocations()? {
            let RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
            // The relocation refers to this library only if its symbol is defined here, or if it has none.
            let symbol = match relocation.target() {
                RelocationTarget::Symbol(index) => match symbols.symbol_by_index(index) {
                    Ok(symbol) if symbol.is_undefined() => continue,
                    Ok(symbol) => symbol.address(),
                    Err(_) => continue,
                },
                _ => 0,
            };
            let slot = bias.wrapping_add(at);
            match r_type {
                elf::R_X86_64_TPOFF64 => {
                    let location = self.memory.word(slot).ok()?;
                    let start = location.wrapping_sub(symbol).wrapping_sub(relocation.addend() as u64);
                    return Some(base.wrapping_add(start).wrapping_add(offset));
                }
                elf::R_X86_64_DTPMOD64 => {
                    let module = self.memory.word(slot).ok()?;
                    let vector = self.memory.word(base.wrapping_add(8)).ok()?;
                    let block = self.memory.word(vector.wrapping_add(module.checked_mul(16)?)).ok()?;
                    // Storage is allocated on first use; until then the vector contains a marker.
                    return (block != 0 && block != u64::MAX).then(|| block.wrapping_add(offset));
                }
                _ => {}
            }
        }
        None
    }
}

/// Size of an image's thread-local storage, rounded as the loader allocates it.
fn storage_size(file: &Image) -> Option<u64> {
    let elf = &file.elf_file().elf;
    let endian = elf.endian();
    elf.elf_program_headers().iter().find(|header| header.p_type(endian) == elf::PT_TLS).map(|header| {
        let alignment = header.p_align(endian).max(1);
        let size = header.p_memsz(endian);
        // The offset of the first byte from the alignment is kept.
        let first = header.p_vaddr(endian).wrapping_neg() % alignment;
        size.saturating_sub(first).next_multiple_of(alignment).saturating_add(first)
    })
}
