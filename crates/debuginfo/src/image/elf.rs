//! Headers of an ELF file: type, segments, interpreter, build id.

use crate::error::ImageError;
use object::elf::{self, FileHeader64};
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{LittleEndian, Object, ObjectSection, SectionKind};
use std::ops::Range;
use std::path::PathBuf;

/// The parsed ELF file.
pub(crate) type Elf = ElfFile64<'static, LittleEndian>;

/// A segment that is loaded into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its address before the bias is added.
    pub address: u64,
    /// Size in memory.
    pub size: u64,
    /// Offset in the file.
    pub file_offset: u64,
    /// Size in the file; the rest is zero.
    pub file_size: u64,
    /// Whether it can be read.
    pub readable: bool,
    /// Whether it can be written.
    pub writable: bool,
    /// Whether it can be executed.
    pub executable: bool,
}

impl Segment {
    /// Whether the segment contains a file address.
    pub fn contains(&self, address: u64) -> bool {
        address >= self.address && address - self.address < self.size
    }
}

/// Contents of the headers.
pub(crate) struct ElfFile {
    /// The whole file.
    pub(crate) bytes: &'static [u8],
    pub(crate) elf: Elf,
    pub(crate) segments: Vec<Segment>,
    /// Address ranges of code.
    pub(crate) code: Vec<Range<u64>>,
    pub(crate) interpreter: Option<PathBuf>,
    pub(crate) is_relocatable: bool,
    pub(crate) entry: u64,
    pub(crate) build_id: Option<&'static [u8]>,
}

impl ElfFile {
    /// Parses the headers.
    pub(crate) fn read(bytes: &'static [u8]) -> Result<ElfFile, ImageError> {
        check_identity(bytes)?;
        let elf = Elf::parse(bytes).map_err(|error| ImageError::Malformed(error.to_string()))?;
        let header = elf.elf_header();
        let is_relocatable = match header.e_type(LittleEndian) {
            elf::ET_EXEC => false,
            elf::ET_DYN => true,
            elf::ET_REL => return Err(ImageError::NotProgram("an object file that is not linked yet")),
            elf::ET_CORE => return Err(ImageError::NotProgram("a core dump")),
            other => return Err(ImageError::Malformed(format!("unknown ELF file type {}", other.0))),
        };
        let mut segments = Vec::new();
        let mut interpreter = None;
        for part in elf.elf_program_headers() {
            match part.p_type(LittleEndian) {
                elf::PT_LOAD => segments.push(segment(part)),
                elf::PT_INTERP => {
                    let name = part.data(LittleEndian, bytes).map_err(|()| {
                        ImageError::Malformed(
                            "the name of the dynamic loader is beyond the end of the file".into(),
                        )
                    })?;
                    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
                    interpreter = Some(path_of(name));
                }
                _ => {}
            }
        }
        // A malformed note is no reason to reject the program.
        let build_id = elf.build_id().ok().flatten();
        let code = code_ranges(&elf, &segments);
        Ok(ElfFile { bytes, entry: elf.entry(), elf, segments, code, interpreter, is_relocatable, build_id })
    }

    /// The address range of the section with this name.
    pub(crate) fn section_range(&self, name: &str) -> Option<Range<u64>> {
        let section = self.elf.section_by_name(name)?;
        Some(section.address()..section.address().checked_add(section.size())?)
    }

    /// The address and the bytes of the section with this name, if it has bytes in the file.
    pub(crate) fn section(&self, name: &str) -> Option<(u64, &'static [u8])> {
        let section = self.elf.section_by_name(name)?;
        let data = section.data().ok().filter(|data| !data.is_empty())?;
        Some((section.address(), data))
    }
}

/// Address ranges of code. Sections are preferred to segments: an executable segment may also contain other data, even
/// the headers at address 0, which is where linkers put discarded functions.
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

/// Rejects files that are not 64-bit ELF files for x86-64.
fn check_identity(bytes: &[u8]) -> Result<(), ImageError> {
    if bytes.is_empty() {
        return Err(ImageError::Malformed("empty file".into()));
    }
    if let Some(rest) = bytes.strip_prefix(b"#!") {
        let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let line = &line[..line.len().min(256)];
        return Err(ImageError::Script { interpreter: String::from_utf8_lossy(line).trim().to_owned() });
    }
    if !bytes.starts_with(&elf::ELFMAG) {
        return Err(ImageError::NotElf);
    }
    if bytes.len() < size_of::<FileHeader64<LittleEndian>>() {
        return Err(ImageError::Malformed("incomplete header".into()));
    }
    let machine = match bytes[5] {
        1 => u16::from_le_bytes([bytes[18], bytes[19]]),
        2 => u16::from_be_bytes([bytes[18], bytes[19]]),
        other => return Err(ImageError::Malformed(format!("unknown byte order {other}"))),
    };
    match (bytes[4], bytes[5], machine) {
        // x32 programs are 32-bit ELF files for x86-64; they are rejected like other 32-bit files.
        (1, 1, 3 | 62) => Err(ImageError::Bits32),
        (1 | 2, _, _) if machine != 62 || bytes[5] != 1 => {
            Err(ImageError::OtherMachine(machine_name(machine)))
        }
        (2, 1, 62) => Ok(()),
        (other, _, _) => Err(ImageError::Malformed(format!("unknown ELF class {other}"))),
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
