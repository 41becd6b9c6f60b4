//! The outside of an ELF file: what it is, where its parts are loaded, what it names.

use crate::problem::Problem;
use object::elf::{self, FileHeader64};
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{LittleEndian, Object, ObjectSection, SectionKind};
use std::ops::Range;
use std::path::PathBuf;

/// How ELF files are read.
pub(crate) type Elf = ElfFile64<'static, LittleEndian>;

/// A part of the file that is loaded into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Where it is loaded, before the bias is added.
    pub address: u64,
    /// How many bytes it has in memory.
    pub size: u64,
    /// Where it is in the file.
    pub file_offset: u64,
    /// How many bytes of it are in the file; the rest is zero.
    pub file_size: u64,
    /// Whether it can be read.
    pub readable: bool,
    /// Whether it can be written.
    pub writable: bool,
    /// Whether it can be executed.
    pub executable: bool,
}

impl Segment {
    /// Whether a file address lies in it.
    pub fn contains(&self, address: u64) -> bool {
        address >= self.address && address - self.address < self.size
    }
}

/// What the headers tell.
pub(crate) struct Outside {
    /// All of the file.
    pub(crate) bytes: &'static [u8],
    pub(crate) elf: Elf,
    pub(crate) segments: Vec<Segment>,
    /// Where code is.
    pub(crate) code: Vec<Range<u64>>,
    pub(crate) interpreter: Option<PathBuf>,
    pub(crate) is_relocatable: bool,
    pub(crate) entry: u64,
    pub(crate) build_id: Option<&'static [u8]>,
}

impl Outside {
    /// Reads the headers.
    pub(crate) fn read(bytes: &'static [u8]) -> Result<Outside, Problem> {
        check_identity(bytes)?;
        let elf = Elf::parse(bytes).map_err(|error| Problem::Damaged(error.to_string()))?;
        let header = elf.elf_header();
        let is_relocatable = match header.e_type(LittleEndian) {
            elf::ET_EXEC => false,
            elf::ET_DYN => true,
            elf::ET_REL => return Err(Problem::NotProgram("an object file that is not linked yet")),
            elf::ET_CORE => return Err(Problem::NotProgram("a core dump")),
            other => return Err(Problem::Damaged(format!("{} is no kind of ELF file", other.0))),
        };
        let mut segments = Vec::new();
        let mut interpreter = None;
        for part in elf.elf_program_headers() {
            match part.p_type(LittleEndian) {
                elf::PT_LOAD => segments.push(segment(part)),
                elf::PT_INTERP => {
                    let name = part
                        .data(LittleEndian, bytes)
                        .map_err(|()| Problem::Damaged("the name of its loader is beyond its end".into()))?;
                    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
                    interpreter = Some(path_of(name));
                }
                _ => {}
            }
        }
        // A bad note is no reason to refuse the program.
        let build_id = elf.build_id().ok().flatten();
        let code = code_ranges(&elf, &segments);
        Ok(Outside { bytes, entry: elf.entry(), elf, segments, code, interpreter, is_relocatable, build_id })
    }

    /// The addresses of a section, if there is one with that name.
    pub(crate) fn section_range(&self, name: &str) -> Option<Range<u64>> {
        let section = self.elf.section_by_name(name)?;
        Some(section.address()..section.address().checked_add(section.size())?)
    }

    /// The bytes of a section and its address, if there is one with that name and it has bytes in the file.
    pub(crate) fn section(&self, name: &str) -> Option<(u64, &'static [u8])> {
        let section = self.elf.section_by_name(name)?;
        let data = section.data().ok().filter(|data| !data.is_empty())?;
        Some((section.address(), data))
    }
}

/// Where code is. An executable segment may hold other things too, even the headers at address 0, which is also
/// where linkers put what they discarded: sections tell better.
fn code_ranges(elf: &Elf, segments: &[Segment]) -> Vec<Range<u64>> {
    let sections: Vec<Range<u64>> = elf
        .sections()
        .filter(|section| section.kind() == SectionKind::Text && section.address() != 0)
        .map(|section| section.address()..section.address().saturating_add(section.size()))
        .collect();
    if !sections.is_empty() {
        return sections;
    }
    let segments = segments.iter().filter(|segment| segment.executable);
    segments.map(|segment| segment.address..segment.address.saturating_add(segment.size)).collect()
}

/// A path from the bytes of a file name.
pub(crate) fn path_of(name: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(name))
}

fn segment(part: &elf::ProgramHeader64<LittleEndian>) -> Segment {
    let flags = part.p_flags(LittleEndian);
    Segment {
        address: part.p_vaddr(LittleEndian),
        size: part.p_memsz(LittleEndian),
        file_offset: part.p_offset(LittleEndian),
        file_size: part.p_filesz(LittleEndian),
        readable: flags.0 & elf::PF_R.0 != 0,
        writable: flags.0 & elf::PF_W.0 != 0,
        executable: flags.0 & elf::PF_X.0 != 0,
    }
}

/// Refuses what is not a 64-bit ELF file for x86-64, and says what it is instead.
fn check_identity(bytes: &[u8]) -> Result<(), Problem> {
    if bytes.is_empty() {
        return Err(Problem::Damaged("it is empty".into()));
    }
    if let Some(rest) = bytes.strip_prefix(b"#!") {
        let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let line = &line[..line.len().min(256)];
        return Err(Problem::Script { interpreter: String::from_utf8_lossy(line).trim().to_owned() });
    }
    if !bytes.starts_with(&elf::ELFMAG) {
        return Err(Problem::NotElf);
    }
    if bytes.len() < size_of::<FileHeader64<LittleEndian>>() {
        return Err(Problem::Damaged("its header is incomplete".into()));
    }
    let machine = match bytes[5] {
        1 => u16::from_le_bytes([bytes[18], bytes[19]]),
        2 => u16::from_be_bytes([bytes[18], bytes[19]]),
        other => return Err(Problem::Damaged(format!("{other} is no byte order"))),
    };
    match (bytes[4], bytes[5], machine) {
        // x32 programs are 32-bit ELF files for x86-64; they are refused like other 32-bit ones.
        (1, 1, 3 | 62) => Err(Problem::Bits32),
        (1 | 2, _, _) if machine != 62 || bytes[5] != 1 => Err(Problem::OtherMachine(machine_name(machine))),
        (2, 1, 62) => Ok(()),
        (other, _, _) => Err(Problem::Damaged(format!("{other} is no class of ELF files"))),
    }
}

fn machine_name(machine: u16) -> String {
    let name = match machine {
        2 | 18 | 43 => "SPARC",
        3 => "x86",
        8 => "MIPS",
        20 | 21 => "PowerPC",
        22 => "S/390",
        40 => "ARM",
        62 => "x86-64 with another byte order",
        183 => "AArch64",
        243 => "RISC-V",
        247 => "BPF",
        258 => "LoongArch",
        other => return format!("machine number {other}"),
    };
    name.to_owned()
}
