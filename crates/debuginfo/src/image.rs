//! One ELF file with its debug information.

mod debug;
pub(crate) mod elf;
mod file;
mod separate;

pub use elf::Segment;

use crate::code::Code;
use crate::functions::Functions;
use crate::lines::Lines;
use crate::problem::Problem;
use crate::symbols::{Symbol, Symbols};
use crate::unwinding::rules::Unwinding;
use debug::{Debug, Units};
use elf::Outside;
use gimli::{AttributeValue, EndianSlice, LittleEndian, UnitRef};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// How debug information is read. Files are mapped once and stay mapped: an image lives as long as the tool.
pub type Reader = EndianSlice<'static, LittleEndian>;
/// The debug information of one file.
pub type Dwarf = gimli::Dwarf<Reader>;
/// One unit of it.
pub type Unit = gimli::Unit<Reader>;

/// One ELF file: the program itself, or a library. Opening reads the headers only; the rest is read when it is
/// first asked for.
pub struct Image {
    path: PathBuf,
    directories: Vec<PathBuf>,
    outside: Outside,
    debug: OnceLock<Debug>,
    units: OnceLock<Units>,
    symbols: OnceLock<Symbols>,
    functions: OnceLock<Functions>,
    lines: OnceLock<Lines>,
    unwinding: OnceLock<Unwinding>,
    code: OnceLock<Code>,
}

/// A place in the debug information of an [`Image`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Die {
    /// The unit, by its position in [`Image::units`].
    pub unit: usize,
    /// The entry in it.
    pub offset: gimli::UnitOffset,
}

impl Image {
    /// Opens a file.
    ///
    /// # Errors
    /// If it cannot be read, or is no 64-bit ELF file for this machine.
    pub fn open(path: &Path) -> Result<Arc<Image>, Problem> {
        Image::open_with(path, &[])
    }

    /// Opens a file whose debug information may be in one of the directories, which are laid out as
    /// `/usr/lib/debug` is.
    ///
    /// # Errors
    /// If it cannot be read, or is no 64-bit ELF file for this machine.
    pub fn open_with(path: &Path, debug_directories: &[PathBuf]) -> Result<Arc<Image>, Problem> {
        Image::new(path, file::map(path)?, debug_directories)
    }

    /// An image that is in no file, such as the one that the kernel maps into every process.
    ///
    /// # Errors
    /// If the bytes are no 64-bit ELF file for this machine.
    pub fn from_bytes(name: &Path, bytes: Vec<u8>) -> Result<Arc<Image>, Problem> {
        // Leaked in whole words: the headers of an ELF file are read in place and must be aligned.
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

    fn new(path: &Path, bytes: &'static [u8], debug_directories: &[PathBuf]) -> Result<Arc<Image>, Problem> {
        Ok(Arc::new(Image {
            path: path.to_owned(),
            directories: debug_directories.to_owned(),
            outside: Outside::read(bytes)?,
            debug: OnceLock::new(),
            units: OnceLock::new(),
            symbols: OnceLock::new(),
            functions: OnceLock::new(),
            lines: OnceLock::new(),
            unwinding: OnceLock::new(),
            code: OnceLock::new(),
        }))
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its debug information, if it has any, here or in a separate file.
    pub fn dwarf(&self) -> Option<&Dwarf> {
        self.debug().dwarf.as_ref()
    }

    /// The units of its debug information: those of the file first, then type units, then those of a file
    /// that it shares with others.
    pub fn units(&self) -> &[Unit] {
        &self.all_units().all
    }

    /// The debug information to which a unit belongs. It differs from [`Image::dwarf`] for units in a file
    /// that is shared with others.
    pub fn dwarf_of(&self, unit: usize) -> Option<&Dwarf> {
        let dwarf = self.dwarf()?;
        if self.all_units().is_shared(unit) { dwarf.sup() } else { Some(dwarf) }
    }

    /// A unit together with the debug information that its attributes refer to.
    pub fn unit(&self, unit: usize) -> Option<UnitRef<'_, Reader>> {
        Some(UnitRef::new(self.dwarf_of(unit)?, self.units().get(unit)?))
    }

    /// The entry that an attribute of an entry in the unit `from` refers to.
    pub fn resolve(&self, from: usize, value: AttributeValue<Reader>) -> Option<Die> {
        self.all_units().resolve(from, value)
    }

    /// The separate file in which the debug information was found.
    pub fn debug_file(&self) -> Option<&Path> {
        self.debug().separate.as_ref().map(|(path, _)| path.as_path())
    }

    /// Why debug information is missing or incomplete, if it is for another reason than that there is none.
    pub fn debug_problem(&self) -> Option<&str> {
        self.debug().problem.as_deref().or(self.all_units().problem.as_deref())
    }

    /// Whether it can be loaded at any address: a library, or a position-independent program.
    pub fn is_pie(&self) -> bool {
        self.outside.is_relocatable
    }

    /// Whether it needs a dynamic loader.
    pub fn is_dynamic(&self) -> bool {
        self.interpreter().is_some()
    }

    /// The dynamic loader that it asks for.
    pub fn interpreter(&self) -> Option<&Path> {
        self.outside.interpreter.as_deref()
    }

    /// The file address at which it starts.
    pub fn entry(&self) -> u64 {
        self.outside.entry
    }

    /// The identity of the build, if the linker noted one.
    pub fn build_id(&self) -> Option<&[u8]> {
        self.outside.build_id
    }

    /// The parts that are loaded into memory.
    pub fn segments(&self) -> &[Segment] {
        &self.outside.segments
    }

    /// Whether a file address is one of code.
    pub fn is_code(&self, address: u64) -> bool {
        self.outside.code.iter().any(|range| range.contains(&address))
    }

    /// The names that the linker left in it, by address.
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

    /// What the file has for a file address and what follows it, up to the end of its segment.
    pub fn bytes_at(&self, address: u64) -> &'static [u8] {
        let Some(segment) = self.segments().iter().find(|segment| segment.contains(address)) else {
            return &[];
        };
        let (skipped, end) =
            (address - segment.address, segment.file_offset.saturating_add(segment.file_size));
        let range = segment.file_offset.saturating_add(skipped) as usize..end as usize;
        self.outside.bytes.get(range).unwrap_or_default()
    }

    /// The bytes of a debug section, here or in the separate file; empty if there is none.
    pub(crate) fn debug_section(&self, name: &str) -> &'static [u8] {
        let mut all = self.outsides().map(|outside| debug::section_bytes(outside, name, &mut None));
        all.find(|bytes| !bytes.is_empty()).unwrap_or_default()
    }

    /// The headers of the file that is loaded.
    pub(crate) fn outside(&self) -> &Outside {
        &self.outside
    }

    /// The headers of the file that is loaded, and of the separate debug file.
    pub(crate) fn outsides(&self) -> impl Iterator<Item = &Outside> {
        let separate = self.debug().separate.as_ref().map(|(_, outside)| outside);
        std::iter::once(&self.outside).chain(separate)
    }

    fn debug(&self) -> &Debug {
        self.debug.get_or_init(|| Debug::load(&self.path, &self.outside, &self.directories))
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
