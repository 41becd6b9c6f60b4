//! One ELF file with its debug information.

mod debug;
pub(crate) mod elf;
mod file;
mod separate;

pub use elf::Segment;

use crate::code::Code;
use crate::error::ImageError;
use crate::functions::Functions;
use crate::lines::Lines;
use crate::symbols::{Symbol, Symbols};
use crate::unwinding::rules::Unwinding;
use debug::{Debug, Units};
use elf::ElfFile;
use gimli::{AttributeValue, EndianSlice, LittleEndian, UnitRef};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Reader of debug information. Files are mapped once and never unmapped, hence `'static`.
pub type Reader = EndianSlice<'static, LittleEndian>;
/// The debug information of one file.
pub type Dwarf = gimli::Dwarf<Reader>;
/// One unit of the debug information.
pub type Unit = gimli::Unit<Reader>;

/// One ELF file: the program itself or a library. Opening reads only the headers; everything else is read when first
/// needed.
pub struct Image {
    path: PathBuf,
    directories: Vec<PathBuf>,
    elf_file: ElfFile,
    debug: OnceLock<Debug>,
    units: OnceLock<Units>,
    symbols: OnceLock<Symbols>,
    functions: OnceLock<Functions>,
    lines: OnceLock<Lines>,
    unwinding: OnceLock<Unwinding>,
    code: OnceLock<Code>,
}

/// Reference to an entry in the debug information of an [`Image`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Die {
    /// Index of the unit in [`Image::units`].
    pub unit: usize,
    /// Offset of the entry in the unit.
    pub offset: gimli::UnitOffset,
}

impl Image {
    /// Opens a file.
    ///
    /// # Errors
    /// If it cannot be read, or is not a 64-bit ELF file for x86-64.
    pub fn open(path: &Path) -> Result<Arc<Image>, ImageError> {
        Image::open_with(path, &[])
    }

    /// Opens a file whose debug information may be in one of the directories. They have the layout of `/usr/lib/debug`.
    ///
    /// # Errors
    /// If it cannot be read, or is not a 64-bit ELF file for x86-64.
    pub fn open_with(path: &Path, debug_directories: &[PathBuf]) -> Result<Arc<Image>, ImageError> {
        Image::new(path, file::map(path)?, debug_directories)
    }

    /// Creates an image that is not backed by a file, such as the vDSO.
    ///
    /// # Errors
    /// If the bytes are not a 64-bit ELF file for x86-64.
    pub fn from_bytes(name: &Path, bytes: Vec<u8>) -> Result<Arc<Image>, ImageError> {
        // Leaked in whole words, because the headers of an ELF file are read in place and must be aligned.
        let mut words = vec![0_u64; bytes.len().div_ceil(8)];
        for (word, chunk) in words.iter_mut().zip(bytes.chunks(8)) {
            let mut filled = [0; 8];
            filled[..chunk.len()].copy_from_slice(chunk);
            *word = u64::from_ne_bytes(filled);
        }
        let words: &'static [u64] = Vec::leak(words);
        let aligned = object::pod::bytes_of_slice(words);
        Image::new(name, aligned.get(..bytes.len()).unwrap_or_default(), &[])
    }

    fn new(
        path: &Path,
        bytes: &'static [u8],
        debug_directories: &[PathBuf],
    ) -> Result<Arc<Image>, ImageError> {
        Ok(Arc::new(Image {
            path: path.to_owned(),
            directories: debug_directories.to_owned(),
            elf_file: ElfFile::read(bytes)?,
            debug: OnceLock::new(),
            units: OnceLock::new(),
            symbols: OnceLock::new(),
            functions: OnceLock::new(),
            lines: OnceLock::new(),
            unwinding: OnceLock::new(),
            code: OnceLock::new(),
        }))
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The debug information, from the file itself or a separate one, if there is any.
    pub fn dwarf(&self) -> Option<&Dwarf> {
        self.debug().dwarf.as_ref()
    }

    /// The units of the debug information: first those of the file, then type units, then those of the shared
    /// supplementary file.
    pub fn units(&self) -> &[Unit] {
        &self.all_units().all
    }

    /// The debug information that a unit belongs to. It differs from [`Image::dwarf`] for units of the shared
    /// supplementary file.
    pub fn dwarf_of(&self, unit: usize) -> Option<&Dwarf> {
        let dwarf = self.dwarf()?;
        if self.all_units().is_shared(unit) { dwarf.sup() } else { Some(dwarf) }
    }

    /// A unit together with the debug information that its attributes refer to.
    pub fn unit(&self, unit: usize) -> Option<UnitRef<'_, Reader>> {
        Some(UnitRef::new(self.dwarf_of(unit)?, self.units().get(unit)?))
    }

    /// The entry to which an attribute refers; the attribute is one of an entry in the unit `from`.
    pub fn resolve(&self, from: usize, value: AttributeValue<Reader>) -> Option<Die> {
        self.all_units().resolve(from, value)
    }

    /// The separate file in which the debug information was found.
    pub fn debug_file(&self) -> Option<&Path> {
        self.debug().separate.as_ref().map(|(path, _)| path.as_path())
    }

    /// Why debug information is missing or incomplete. `None` if the file simply has none.
    pub fn debug_info_error(&self) -> Option<&str> {
        self.debug().error.as_deref().or(self.all_units().error.as_deref())
    }

    /// Whether the image can be loaded at any address: a library or a position-independent program.
    pub fn is_pie(&self) -> bool {
        self.elf_file.is_relocatable
    }

    /// Whether the image needs a dynamic loader.
    pub fn is_dynamic(&self) -> bool {
        self.interpreter().is_some()
    }

    /// The dynamic loader that the image requests.
    pub fn interpreter(&self) -> Option<&Path> {
        self.elf_file.interpreter.as_deref()
    }

    /// The file address of the entry point.
    pub fn entry(&self) -> u64 {
        self.elf_file.entry
    }

    /// The build id, if the linker recorded one.
    pub fn build_id(&self) -> Option<&[u8]> {
        self.elf_file.build_id
    }

    /// The segments that are loaded into memory.
    pub fn segments(&self) -> &[Segment] {
        &self.elf_file.segments
    }

    /// Whether a file address contains code.
    pub fn is_code(&self, address: u64) -> bool {
        self.elf_file.code.iter().any(|range| range.contains(&address))
    }

    /// The symbols, by address.
    pub fn symbols(&self) -> &[Symbol] {
        self.symbol_table().all()
    }

    pub(crate) fn symbol_table(&self) -> &Symbols {
        self.symbols.get_or_init(|| Symbols::read(self))
    }

    pub(crate) fn functions(&self) -> &Functions {
        self.functions.get_or_init(|| Functions::read(self))
    }

    pub(crate) fn lines(&self) -> &Lines {
        self.lines.get_or_init(|| Lines::new(self))
    }

    pub(crate) fn unwinding(&self) -> &Unwinding {
        self.unwinding.get_or_init(|| Unwinding::new(self))
    }

    pub(crate) fn code(&self) -> &Code {
        self.code.get_or_init(|| Code::read(self))
    }

    /// The bytes in the file from a file address to the end of its segment.
    pub fn bytes_at(&self, address: u64) -> &'static [u8] {
        let Some(segment) = self.segments().iter().find(|segment| segment.contains(address)) else {
            return &[];
        };
        let (skipped, end) =
            (address - segment.address, segment.file_offset.saturating_add(segment.file_size));
        let range = segment.file_offset.saturating_add(skipped) as usize..end as usize;
        self.elf_file.bytes.get(range).unwrap_or_default()
    }

    /// The bytes of a debug section, from the file itself or the separate debug file; empty if there is none.
    pub(crate) fn debug_section(&self, name: &str) -> &'static [u8] {
        let mut all = self.elf_files().map(|elf_file| debug::section_bytes(elf_file, name, &mut None));
        all.find(|bytes| !bytes.is_empty()).unwrap_or_default()
    }

    /// The headers of the loaded file.
    pub(crate) fn elf_file(&self) -> &ElfFile {
        &self.elf_file
    }

    /// The headers of the loaded file and of the separate debug file.
    pub(crate) fn elf_files(&self) -> impl Iterator<Item = &ElfFile> {
        let separate = self.debug().separate.as_ref().map(|(_, elf_file)| elf_file);
        std::iter::once(&self.elf_file).chain(separate)
    }

    fn debug(&self) -> &Debug {
        self.debug.get_or_init(|| Debug::load(&self.path, &self.elf_file, &self.directories))
    }

    fn all_units(&self) -> &Units {
        self.units.get_or_init(|| Units::read(self.dwarf()))
    }
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Image").field(&self.path).finish()
    }
}
