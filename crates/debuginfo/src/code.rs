//! Analysis of code that does not depend on symbols: function ranges, and addresses that may be jump targets.
//!
//! Function ranges are available even in a stripped program, because unwinding needs them. Jump targets are not
//! recorded anywhere, so [`Code::may_contain_jump_target`] is conservative: at every byte offset, anything that looks
//! like a direct jump or call, a code address, or a jump table is counted as one. Instructions are not decoded, so none
//! can be decoded wrongly. Two-byte jumps are left to the caller: they are local, and too many byte pairs look
//! like one.

use crate::image::Image;
use object::elf;
use object::read::elf::Rela;
use object::{LittleEndian, Object, ObjectSection};
use std::ops::Range;

/// Maximum number of entries in a jump table.
const MAX_TABLE_ENTRIES: u64 = 1 << 16;

/// Code of an image. Addresses are link-time addresses, not load addresses.
pub(crate) struct Code {
    /// Function ranges in ascending order.
    parts: Vec<Range<u64>>,
    /// Possible jump targets: one bit for each byte from `start` on.
    jump_targets: Vec<u64>,
    start: u64,
    end: u64,
}

impl Code {
    pub(crate) fn read(image: &Image) -> Code {
        let ranges = &image.elf_file().code;
        let start = ranges.iter().map(|range| range.start).min().unwrap_or(0);
        let end = ranges.iter().map(|range| range.end).max().unwrap_or(0);
        let words = (end - start).div_ceil(64) as usize;
        // A malformed file may claim any size.
        let words = if words <= image.elf_file().bytes.len() { words } else { 0 };
        let mut code = Code { parts: parts(image), jump_targets: vec![0; words], start, end };
        code.mark_jump_targets(image);
        code
    }

    /// The ranges of functions and their parts, in ascending order.
    pub(crate) fn parts(&self) -> &[Range<u64>] {
        &self.parts
    }

    /// The range that contains an address.
    pub(crate) fn part_at(&self, address: u64) -> Option<&Range<u64>> {
        let after = self.parts.partition_point(|part| part.start <= address);
        // Symbols may define nested ranges: the innermost one counts. They are nested less than four deep.
        self.parts[..after].iter().rev().take(4).find(|part| part.contains(&address))
    }

    /// The start of the first range after an address.
    pub(crate) fn next_part(&self, address: u64) -> Option<u64> {
        let after = self.parts.partition_point(|part| part.start <= address);
        self.parts.get(after).map(|part| part.start)
    }

    /// Whether something may jump, call or point into a range, other than by a two-byte jump.
    pub(crate) fn may_contain_jump_target(&self, range: Range<u64>) -> bool {
        range.into_iter().any(|address| {
            let at = address.wrapping_sub(self.start);
            match self.jump_targets.get((at / 64) as usize) {
                Some(word) => word >> (at % 64) & 1 != 0,
                // Outside the analysed range, nothing is known.
                None => true,
            }
        })
    }

    fn mark(&mut self, address: u64) -> bool {
        let is_code = (self.start..self.end).contains(&address);
        if is_code {
            let at = address - self.start;
            if let Some(word) = self.jump_targets.get_mut((at / 64) as usize) {
                *word |= 1 << (at % 64);
            }
        }
        is_code
    }

    fn mark_jump_targets(&mut self, image: &Image) {
        let is_fixed = !image.is_pie();
        let mut tables = Vec::new();
        for segment in image.segments().iter().filter(|segment| segment.executable) {
            self.scan(image.bytes_at(segment.address), segment.address, is_fixed, &mut tables);
        }
        tables.sort_unstable();
        tables.dedup();
        for (n, table) in tables.iter().copied().enumerate() {
            let bytes = image.bytes_at(table);
            let (entries, _) = bytes.as_chunks::<4>();
            // A table ends no later than the start of the next one.
            let most = tables.get(n + 1).map_or(MAX_TABLE_ENTRIES, |next| (next - table) / 4);
            for entry in entries.iter().take(most.min(MAX_TABLE_ENTRIES) as usize) {
                let to = table.wrapping_add_signed(i32::from_le_bytes(*entry).into());
                if !self.mark(to) {
                    break;
                }
            }
        }
        self.relocations(image);
        // Without relocations, or with compact ones (`.relr.dyn`), addresses are stored in the data directly.
        if is_fixed || image.elf_file().section_range(".relr.dyn").is_some() {
            for segment in image.segments() {
                let padding = segment.address.wrapping_neg() % 8;
                let bytes = image.bytes_at(segment.address);
                let (words, _) = bytes.get(padding as usize..).unwrap_or_default().as_chunks::<8>();
                words.iter().for_each(|word| {
                    self.mark(u64::from_le_bytes(*word));
                });
            }
        }
    }

    /// Marks the targets of everything that may be an instruction with a code address, and collects candidate jump
    /// tables.
    fn scan(&mut self, bytes: &[u8], start: u64, is_fixed: bool, tables: &mut Vec<u64>) {
        for at in 2..bytes.len().saturating_sub(3) {
            let (before, opcode) = (bytes[at - 2], bytes[at - 1]);
            let is_jump = matches!(opcode, 0xe8 | 0xe9)
                || before == 0x0f && opcode & 0xf0 == 0x80
                // `xbegin`: where an aborted transaction continues.
                || before == 0xc7 && opcode == 0xf8;
            // `lea` with an address relative to the instruction pointer.
            let is_address = before == 0x8d && opcode & 0xc7 == 0x05;
            // An absolute address as an operand: `push`, `mov register`, or a store of a constant (0xc7), whose opcode and
            // addressing bytes are at most eight.
            let is_immediate = is_fixed
                && (matches!(opcode, 0x68 | 0xb8..=0xbf) || bytes[at.saturating_sub(8)..at].contains(&0xc7));
            if !is_jump && !is_address && !is_immediate {
                continue;
            }
            let Some(operand) = bytes[at..].first_chunk::<4>() else { break };
            let operand = i32::from_le_bytes(*operand);
            if is_immediate {
                self.mark(operand as u32 as u64);
            }
            let to = (start + at as u64 + 4).wrapping_add_signed(operand.into());
            if is_jump {
                self.mark(to);
            } else if is_address && !self.mark(to) && to.is_multiple_of(4) {
                tables.push(to);
            }
        }
    }

    /// Marks the addresses that the dynamic loader writes into the data.
    fn relocations(&mut self, image: &Image) {
        for section in image.elf_file().elf.sections() {
            if !section.name().is_ok_and(|name| name.starts_with(".rela")) {
                continue;
            }
            let Ok(bytes) = section.data() else { continue };
            let count = bytes.len() / size_of::<elf::Rela64<LittleEndian>>();
            let found = object::pod::slice_from_bytes::<elf::Rela64<LittleEndian>>(bytes, count);
            for relocation in found.map(|(all, _)| all).unwrap_or_default() {
                self.mark(relocation.r_addend(LittleEndian) as u64);
            }
        }
    }
}

/// The ranges that unwinding information and symbols describe.
fn parts(image: &Image) -> Vec<Range<u64>> {
    let mut parts = image.unwinding().functions();
    parts.retain(|part| part.start < part.end && image.is_code(part.start));
    parts.sort_unstable_by_key(|part| (part.start, part.end));
    parts.dedup_by_key(|part| part.start);
    let symbols = image.symbols().iter().filter(|symbol| symbol.is_code() && symbol.size > 0);
    let symbols = symbols.map(|symbol| symbol.address..symbol.address.saturating_add(symbol.size));
    let is_new = |part: &Range<u64>| {
        image.is_code(part.start) && parts.binary_search_by_key(&part.start, |known| known.start).is_err()
    };
    let new: Vec<Range<u64>> = symbols.filter(is_new).collect();
    parts.extend(new);
    parts.sort_unstable_by_key(|part| (part.start, part.end));
    parts.dedup_by_key(|part| part.start);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The targets and tables found in a block of code at 0x1000.
    fn jump_targets(bytes: &[u8], is_fixed: bool) -> (Vec<u64>, Vec<u64>) {
        let mut code = Code { parts: Vec::new(), jump_targets: vec![0; 64], start: 0x1000, end: 0x2000 };
        let mut tables = Vec::new();
        code.scan(bytes, 0x1000, is_fixed, &mut tables);
        ((0x1000..0x2000).filter(|at| code.may_contain_jump_target(*at..at + 1)).collect(), tables)
    }

    #[test]
    fn scan_of_jump_call_or_address_marks_its_target() {
        // jmp, jne and call with displacement 0x100; no alignment is assumed.
        assert_eq!(jump_targets(&[0x90, 0xe9, 0, 1, 0, 0, 0x90], false).0, [0x1106]);
        assert_eq!(jump_targets(&[0x0f, 0x85, 0, 1, 0, 0, 0x90], false).0, [0x1106]);
        assert_eq!(jump_targets(&[0x90, 0xe8, 0xff, 0, 0, 0], false).0, [0x1105]);
        // lea rax, [rip + 0x100]: an address of code; lea rax, [rip + 0x2001]: a candidate table.
        assert_eq!(jump_targets(&[0x48, 0x8d, 0x05, 0, 1, 0, 0], false), (vec![0x1107], vec![]));
        assert_eq!(jump_targets(&[0x48, 0x8d, 0x05, 1, 0x20, 0, 0], false), (vec![], vec![0x3008]));
        // mov edi, 0x1234 is an address if the program is loaded at a fixed address.
        assert_eq!(jump_targets(&[0x90, 0xbf, 0x34, 0x12, 0, 0], true).0, [0x1234]);
        assert_eq!(jump_targets(&[0x90, 0xbf, 0x34, 0x12, 0, 0], false).0, []);
    }

    #[test]
    fn addresses_outside_analysed_range_may_be_jump_targets() {
        let code = Code { parts: Vec::new(), jump_targets: vec![0; 64], start: 0x1000, end: 0x2000 };
        assert!(!code.may_contain_jump_target(0x1001..0x1005));
        assert!(code.may_contain_jump_target(0x1fff..0x2001));
        assert!(code.may_contain_jump_target(0x500..0x501));
    }

    #[test]
    fn this_test_function_has_a_range() {
        let image = Image::open(&std::env::current_exe().unwrap()).unwrap();
        let own =
            image.symbols().iter().find(|symbol| symbol.text().contains("this_test_function_has_a_range"));
        let own = own.filter(|symbol| symbol.is_code()).unwrap();
        let part = image.code().part_at(own.address).unwrap();
        assert_eq!(part.start, own.address);
        assert_eq!(image.code().part_at(part.end - 1), Some(part));
        assert!(image.code().next_part(part.start).is_some_and(|next| next >= part.end));
    }
}
