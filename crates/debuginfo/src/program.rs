//! Images of a process: which image is mapped where, and what is at an address. Addresses are those of the process: the
//! address in the file plus the bias of the image.

mod active_function;
mod find;
mod function;
mod line;

pub use active_function::ActiveFunction;
pub use function::{Function, Inlined};
pub use line::{Line, LineAddress, Statement};

use crate::image::Image;
use crate::symbols::{Symbol, SymbolKind};
use std::ops::Range;
use std::sync::Arc;

/// An image that is mapped into the process.
#[derive(Clone, Debug)]
pub struct MappedImage {
    /// The image.
    pub image: Arc<Image>,
    /// Difference between an address in the process and the address in the file.
    pub bias: u64,
    range: Range<u64>,
}

impl MappedImage {
    /// Converts an address in the file to one in the process.
    pub fn address(&self, in_file: u64) -> u64 {
        in_file.wrapping_add(self.bias)
    }

    /// Converts an address in the process to one in the file.
    pub fn in_file(&self, address: u64) -> u64 {
        address.wrapping_sub(self.bias)
    }

    /// Converts a range of addresses in the file to one in the process.
    fn address_range(&self, range: &Range<u64>) -> Range<u64> {
        self.address(range.start)..self.address(range.end)
    }
}

/// A symbol with its address in the process.
#[derive(Clone, Debug)]
pub struct SymbolAddress {
    /// The address; for [`SymbolKind::ThreadLocal`], the offset in the thread-local storage of the image.
    pub address: u64,
    /// Size in bytes; 0 if unknown.
    pub size: u64,
    /// What the symbol names.
    pub kind: SymbolKind,
    /// The image that defines it.
    pub image: Arc<Image>,
}

/// All images of a process, the program itself first.
#[derive(Clone, Debug, Default)]
pub struct Program {
    images: Vec<MappedImage>,
}

impl Program {
    /// A process without images.
    pub fn new() -> Program {
        Program::default()
    }

    /// Adds a mapped image. The first one must be the program itself.
    pub fn add(&mut self, image: Arc<Image>, bias: u64) {
        let begin = image.segments().iter().map(|segment| segment.address).min().unwrap_or(0);
        let end = image.segments().iter().map(|segment| segment.address.saturating_add(segment.size)).max();
        let range = begin.wrapping_add(bias)..end.unwrap_or(0).wrapping_add(bias);
        self.images.push(MappedImage { image, bias, range });
    }

    /// Removes an image that is no longer mapped. Returns whether it was mapped there.
    pub fn remove(&mut self, image: &Arc<Image>, bias: u64) -> bool {
        let before = self.images.len();
        self.images.retain(|mapped| !(Arc::ptr_eq(&mapped.image, image) && mapped.bias == bias));
        self.images.len() != before
    }

    /// The mapped images, the program itself first.
    pub fn images(&self) -> &[MappedImage] {
        &self.images
    }

    /// The image that contains an address.
    pub fn image_at(&self, address: u64) -> Option<&MappedImage> {
        self.images.iter().find(|mapped| {
            let in_file = mapped.in_file(address);
            mapped.range.contains(&address)
                && mapped.image.segments().iter().any(|segment| segment.contains(in_file))
        })
    }

    /// Whether an address contains code.
    pub fn is_code(&self, address: u64) -> bool {
        self.image_at(address).is_some_and(|mapped| mapped.image.is_code(mapped.in_file(address)))
    }

    /// The address of the first symbol after an address in the same image.
    pub fn next_symbol(&self, address: u64) -> Option<u64> {
        let mapped = self.image_at(address)?;
        Some(mapped.address(mapped.image.symbol_table().after(mapped.in_file(address))?))
    }

    /// Start addresses of functions and of their split-off (cold) parts, in ascending order. They are taken from symbols
    /// and unwinding tables; a stripped program has only the latter.
    pub fn code_starts(&self) -> Vec<u64> {
        let mut all: Vec<u64> = Vec::new();
        for mapped in &self.images {
            all.extend(mapped.image.code().parts().iter().map(|part| mapped.address(part.start)));
        }
        all.sort_unstable();
        all
    }

    /// The range of the function, or of its part, that contains an address.
    pub fn code_part(&self, address: u64) -> Option<Range<u64>> {
        let mapped = self.image_at(address)?;
        Some(mapped.address_range(mapped.image.code().part_at(mapped.in_file(address))?))
    }

    /// The address of the first symbol or function after an address in the same image.
    pub fn next_code(&self, address: u64) -> Option<u64> {
        let mapped = self.image_at(address)?;
        let next = mapped.image.code().next_part(mapped.in_file(address));
        next.map(|next| mapped.address(next)).into_iter().chain(self.next_symbol(address)).min()
    }

    /// The code bytes from an address on, as in the file and so without traps.
    pub fn code_bytes(&self, address: u64) -> &'static [u8] {
        self.image_at(address).map_or(&[], |mapped| mapped.image.bytes_at(mapped.in_file(address)))
    }

    /// Whether something in the same image may jump, call or point into a range, other than by a two-byte jump.
    /// Conservative: `true` if unknown.
    pub fn may_contain_jump_target(&self, range: Range<u64>) -> bool {
        self.image_at(range.start).is_none_or(|mapped| {
            let range = mapped.in_file(range.start)..mapped.in_file(range.end);
            mapped.image.code().may_contain_jump_target(range)
        })
    }

    /// The demangled name of the symbol at an address, and the offset of the address in it.
    pub fn symbol_at(&self, address: u64) -> Option<(String, u64)> {
        let mapped = self.image_at(address)?;
        let in_file = mapped.in_file(address);
        let symbol = mapped.image.symbol_table().at(in_file)?;
        Some((function::symbol_name(symbol), in_file - symbol.address))
    }

    /// The function or variable with a linkage name. Stubs are skipped in favour of the functions that they call.
    pub fn symbol(&self, name: &str) -> Option<SymbolAddress> {
        self.images.iter().find_map(|mapped| {
            let is_not_stub = |symbol: &&Symbol| symbol.kind != SymbolKind::Stub;
            let symbol = mapped.image.symbol_table().named(name).find(is_not_stub)?;
            let address = match symbol.kind {
                SymbolKind::ThreadLocal => symbol.address,
                _ => mapped.address(symbol.address),
            };
            Some(SymbolAddress { address, size: symbol.size, kind: symbol.kind, image: mapped.image.clone() })
        })
    }
}
