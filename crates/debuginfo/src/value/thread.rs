//! Where thread-local variables are.

use crate::image::Image;
use crate::value::datum::Unavailable;
use crate::value::scope::Scope;
use object::read::elf::ProgramHeader;
use object::{Object, ObjectSymbol, ObjectSymbolTable, RelocationFlags, RelocationTarget, elf};

impl Scope<'_> {
    /// The address of a thread-local variable, by its offset in the storage of its image.
    pub(crate) fn thread_local(&self, image: usize, offset: u64) -> Result<u64, Unavailable> {
        let base = self.registers(0).map_or(0, |registers| registers.thread_base);
        let file = self.info.image(image).ok_or(Unavailable::ThreadLocal)?;
        if base == 0 {
            return Err(Unavailable::ThreadLocal);
        }
        if self.is_main(image) {
            // The storage of the program itself ends where the thread's own block begins.
            let size = storage_of(file).ok_or(Unavailable::ThreadLocal)?;
            return Ok(base.wrapping_sub(size).wrapping_add(offset));
        }
        self.in_library(file, self.info.bias(image), base, offset).ok_or(Unavailable::ThreadLocal)
    }

    /// The loader leaves in a library's table where its storage is: relative to the thread's block, or as the
    /// number of the module in the thread's vector.
    fn in_library(&self, file: &Image, bias: u64, base: u64, offset: u64) -> Option<u64> {
        let elf = &file.outside().elf;
        let symbols = elf.dynamic_symbol_table()?;
        for (at, relocation) in elf.dynamic_relocations()? {
            let RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
            // What is meant lies in this library only if the symbol is defined in it, or there is none.
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
                    let place = self.memory.word(slot).ok()?;
                    let start = place.wrapping_sub(symbol).wrapping_sub(relocation.addend() as u64);
                    return Some(base.wrapping_add(start).wrapping_add(offset));
                }
                elf::R_X86_64_DTPMOD64 => {
                    let module = self.memory.word(slot).ok()?;
                    let vector = self.memory.word(base.wrapping_add(8)).ok()?;
                    let block = self.memory.word(vector.wrapping_add(module.checked_mul(16)?)).ok()?;
                    // Storage is made when it is first used; until then there is this mark.
                    return (block != 0 && block != u64::MAX).then(|| block.wrapping_add(offset));
                }
                _ => {}
            }
        }
        None
    }
}

/// The size of an image's thread-local storage, as much as the loader sets aside for it.
fn storage_of(file: &Image) -> Option<u64> {
    let elf = &file.outside().elf;
    let endian = elf.endian();
    elf.elf_program_headers().iter().find(|header| header.p_type(endian) == elf::PT_TLS).map(|header| {
        let alignment = header.p_align(endian).max(1);
        let size = header.p_memsz(endian);
        // The first byte keeps its place within the alignment.
        let first = header.p_vaddr(endian).wrapping_neg() % alignment;
        size.saturating_sub(first).next_multiple_of(alignment).saturating_add(first)
    })
}
