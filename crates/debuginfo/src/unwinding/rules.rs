//! Unwinding rules of one image: how to find the registers of the caller at every instruction.

use crate::image::{Image, Reader};
use gimli::{
    BaseAddresses, CfaRule, CieOrFde, DebugFrame, EhFrame, EhFrameHdr, Encoding, EndianSlice, Expression,
    FrameDescriptionEntry, LittleEndian, ParsedEhFrameHdr, Register, RegisterRule, UnwindContext,
    UnwindSection,
};
use std::ops::Range;
use std::sync::OnceLock;

/// Rule for the canonical frame address.
pub(crate) enum Cfa {
    /// A register plus an offset.
    Register(Register, i64),
    /// The result of an expression.
    Expression(Expression<Reader>),
}

/// Rule for a register of the caller.
pub(crate) enum Rule {
    /// The register is unknown.
    Undefined,
    /// The register is unchanged.
    Same,
    /// Saved at this offset from the canonical frame address.
    Saved(i64),
    /// The canonical frame address plus this offset.
    Distance(i64),
    /// Held in another register.
    Register(Register),
    /// Saved at the address that an expression computes.
    SavedAt(Expression<Reader>),
    /// The result of an expression.
    Value(Expression<Reader>),
    /// A constant.
    Constant(u64),
}

/// The rules at one instruction.
pub(crate) struct Rules {
    pub(crate) cfa: Cfa,
    pub(crate) registers: Vec<(Register, Rule)>,
    pub(crate) return_address: Register,
    /// Whether this is the frame that the kernel created to return from a signal handler.
    pub(crate) is_signal: bool,
    pub(crate) encoding: Encoding,
}

/// The unwinding sections of an image.
pub(crate) struct Unwinding {
    eh_frame: Option<EhFrameSection>,
    debug: Option<Described<DebugFrame<Reader>>>,
}

struct EhFrameSection {
    described: Described<EhFrame<Reader>>,
    search_table: Option<ParsedEhFrameHdr<Reader>>,
}

/// A section and the address ranges of the functions that it describes.
struct Described<Section> {
    section: Section,
    /// The file address of the section; 0 if it is not loaded.
    start: u64,
    bases: BaseAddresses,
    index: OnceLock<Vec<(Range<u64>, usize)>>,
}

impl Unwinding {
    pub(crate) fn new(image: &Image) -> Unwinding {
        let elf_file = image.elf_file();
        let mut bases = BaseAddresses::default();
        if let Some(text) = elf_file.section_range(".text") {
            bases = bases.set_text(text.start);
        }
        if let Some(table) = elf_file.section_range(".got") {
            bases = bases.set_got(table.start);
        }
        let eh_frame = elf_file.section(".eh_frame").map(|(address, bytes)| {
            bases = bases.clone().set_eh_frame(address);
            let search_table = elf_file.section(".eh_frame_hdr").and_then(|(address, bytes)| {
                bases = bases.clone().set_eh_frame_hdr(address);
                EhFrameHdr::new(bytes, LittleEndian).parse(&bases, 8).ok()
            });
            let described =
                Described::new(EhFrame::from(EndianSlice::new(bytes, LittleEndian)), address, bases.clone());
            EhFrameSection { described, search_table }
        });
        let section = image.debug_section(".debug_frame");
        let debug = (!section.is_empty())
            .then(|| Described::new(DebugFrame::from(EndianSlice::new(section, LittleEndian)), 0, bases));
        Unwinding { eh_frame, debug }
    }

    /// The address ranges of all functions with unwinding rules.
    pub(crate) fn functions(&self) -> Vec<Range<u64>> {
        let ranges = |index: &[(Range<u64>, usize)]| -> Vec<Range<u64>> {
            index.iter().map(|(range, _)| range.clone()).collect()
        };
        let mut all = self.eh_frame.as_ref().map_or(Vec::new(), |all| ranges(all.described.index()));
        all.extend(self.debug.as_ref().map_or(Vec::new(), |all| ranges(all.index())));
        all
    }

    /// The rules at a file address.
    pub(crate) fn at(&self, address: u64) -> Option<Rules> {
        let in_eh_frame = || {
            let EhFrameSection { described, search_table } = self.eh_frame.as_ref()?;
            let found = match search_table.as_ref().and_then(ParsedEhFrameHdr::table) {
                Some(table) => {
                    let place = table.lookup(address, &described.bases).ok()?.direct().ok()?;
                    let offset = usize::try_from(place.checked_sub(described.start)?).ok()?;
                    described.read(offset).filter(|found| found.contains(address))
                }
                None => described.find(address),
            }?;
            described.rules(&found, address)
        };
        let in_debug = || {
            let described = self.debug.as_ref()?;
            described.rules(&described.find(address)?, address)
        };
        in_eh_frame().or_else(in_debug)
    }
}

impl<Section: UnwindSection<Reader>> Described<Section> {
    fn new(section: Section, start: u64, bases: BaseAddresses) -> Described<Section> {
        Described { section, start, bases, index: OnceLock::new() }
    }

    /// The description of the function that contains an address.
    fn find(&self, address: u64) -> Option<FrameDescriptionEntry<Reader>> {
        let index = self.index();
        let after = index.partition_point(|(range, _)| range.start <= address);
        let (range, offset) = index.get(after.checked_sub(1)?)?;
        if !range.contains(&address) {
            return None;
        }
        self.read(*offset)
    }

    /// The description at an offset in the section.
    fn read(&self, offset: usize) -> Option<FrameDescriptionEntry<Reader>> {
        let offset = Section::Offset::from(offset);
        self.section.fde_from_offset(&self.bases, offset, Section::cie_from_offset).ok()
    }

    /// Address ranges of functions in order, each with the offset of its description.
    fn index(&self) -> &[(Range<u64>, usize)] {
        self.index.get_or_init(|| self.read_index())
    }

    fn read_index(&self) -> Vec<(Range<u64>, usize)> {
        let mut index = Vec::new();
        let mut entries = self.section.entries(&self.bases);
        while let Ok(Some(entry)) = entries.next() {
            let CieOrFde::Fde(partial) = entry else { continue };
            if let Ok(function) = partial.parse(Section::cie_from_offset) {
                index.push((function.initial_address()..function.end_address(), function.offset()));
            }
        }
        index.sort_by_key(|(range, _)| range.start);
        index
    }

    fn rules(&self, function: &FrameDescriptionEntry<Reader>, address: u64) -> Option<Rules> {
        let mut context = UnwindContext::new();
        let row = function.unwind_info_for_address(&self.section, &self.bases, &mut context, address).ok()?;
        let expression = |expression: gimli::UnwindExpression<usize>| expression.get(&self.section).ok();
        let cfa = match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => Cfa::Register(*register, *offset),
            CfaRule::Expression(text) => Cfa::Expression(expression(*text)?),
        };
        let mut registers = Vec::new();
        for (register, rule) in row.registers() {
            let rule = match rule {
                RegisterRule::SameValue => Rule::Same,
                RegisterRule::Offset(distance) => Rule::Saved(*distance),
                RegisterRule::ValOffset(distance) => Rule::Distance(*distance),
                RegisterRule::Register(other) => Rule::Register(*other),
                RegisterRule::Expression(text) => Rule::SavedAt(expression(*text)?),
                RegisterRule::ValExpression(text) => Rule::Value(expression(*text)?),
                RegisterRule::Constant(value) => Rule::Constant(*value),
                _ => Rule::Undefined,
            };
            registers.push((*register, rule));
        }
        Some(Rules {
            cfa,
            registers,
            return_address: function.cie().return_address_register(),
            is_signal: function.is_signal_trampoline(),
            encoding: function.cie().encoding(),
        })
    }
}
