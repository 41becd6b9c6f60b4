//! A running program as its files describe it: which image is mapped where, and what is found at an address.
//! Addresses are those of the running process: the address in the file plus the bias of the image.

mod activation;
mod find;
mod function;
mod line;

pub use activation::Activation;
pub use function::{Function, Inlined};
pub use line::{Line, Place, Statement};

use crate::image::Image;
use crate::symbols::{Symbol, SymbolKind};
use std::ops::Range;
use std::sync::Arc;

/// An image, and how far from its own addresses it is mapped.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The image.
    pub image: Arc<Image>,
    /// What is added to its addresses.
    pub bias: u64,
    range: Range<u64>,
}

impl Loaded {
    /// The address in the process of an address in the file.
    pub fn address(&self, in_file: u64) -> u64 {
        in_file.wrapping_add(self.bias)
    }

    /// The address in the file of an address in the process.
    pub fn in_file(&self, address: u64) -> u64 {
        address.wrapping_sub(self.bias)
    }

    fn here(&self, range: &Range<u64>) -> Range<u64> {
        self.address(range.start)..self.address(range.end)
    }
}

/// A symbol where it is in the process.
#[derive(Clone, Debug)]
pub struct SymbolAddress {
    /// Where it is; for [`SymbolKind::ThreadLocal`] its offset in the storage of the image.
    pub address: u64,
    /// How many bytes it has; 0 if nobody said.
    pub size: u64,
    /// What it names.
    pub kind: SymbolKind,
    /// The image that defines it.
    pub image: Arc<Image>,
}

/// The images of a process, the program itself first.
#[derive(Clone, Debug, Default)]
pub struct Program {
    images: Vec<Loaded>,
}

impl Program {
    /// A process without any image yet.
    pub fn new() -> Program {
        Program::default()
    }

    /// Says that an image is mapped. The first one is the program itself.
    pub fn add(&mut self, image: Arc<Image>, bias: u64) {
        let begin = image.segments().iter().map(|segment| segment.address).min().unwrap_or(0);
        let end = image.segments().iter().map(|segment| segment.address.saturating_add(segment.size)).max();
        let range = begin.wrapping_add(bias)..end.unwrap_or(0).wrapping_add(bias);
        self.images.push(Loaded { image, bias, range });
    }

    /// Says that an image is no longer mapped there; whether it was.
    pub fn remove(&mut self, image: &Arc<Image>, bias: u64) -> bool {
        let before = self.images.len();
        self.images.retain(|loaded| !(Arc::ptr_eq(&loaded.image, image) && loaded.bias == bias));
        self.images.len() != before
    }

    /// What is mapped, the program itself first.
    pub fn images(&self) -> &[Loaded] {
        &self.images
    }

    /// The image that has an address.
    pub fn image_at(&self, address: u64) -> Option<&Loaded> {
        self.images.iter().find(|loaded| {
            let in_file = loaded.in_file(address);
            loaded.range.contains(&address)
                && loaded.image.segments().iter().any(|segment| segment.contains(in_file))
        })
    }

    /// Whether an address is one of code in some image.
    pub fn is_code(&self, address: u64) -> bool {
        self.image_at(address).is_some_and(|loaded| loaded.image.is_code(loaded.in_file(address)))
    }

    /// Where the next thing that has a name begins, behind an address in its image.
    pub fn next_symbol(&self, address: u64) -> Option<u64> {
        let loaded = self.image_at(address)?;
        Some(loaded.address(loaded.image.symbol_table().after(loaded.in_file(address))?))
    }

    /// Where the functions begin, and the parts of functions that lie elsewhere: all that symbols or the tables for unwinding
    /// tell of, in order. A program without symbols has the latter.
    pub fn code_starts(&self) -> Vec<u64> {
        let mut all: Vec<u64> = Vec::new();
        for loaded in &self.images {
            all.extend(loaded.image.code().parts().iter().map(|part| loaded.address(part.start)));
        }
        all.sort_unstable();
        all
    }

    /// The part of a function that has an address: from where it begins to where it ends.
    pub fn code_part(&self, address: u64) -> Option<Range<u64>> {
        let loaded = self.image_at(address)?;
        Some(loaded.here(loaded.image.code().part_at(loaded.in_file(address))?))
    }

    /// Where the next thing begins that has a name, or is a function, behind an address in its image.
    pub fn next_code(&self, address: u64) -> Option<u64> {
        let loaded = self.image_at(address)?;
        let next = loaded.image.code().next_part(loaded.in_file(address));
        next.map(|next| loaded.address(next)).into_iter().chain(self.next_symbol(address)).min()
    }

    /// The code at an address and behind it, as its file has it.
    pub fn code_bytes(&self, address: u64) -> &'static [u8] {
        self.image_at(address).map_or(&[], |loaded| loaded.image.bytes_at(loaded.in_file(address)))
    }

    /// Whether something in the same image may jump, call or point to one of some addresses, other than by a jump of two
    /// bytes; what is not known to be free of that may.
    pub fn may_be_entered(&self, range: Range<u64>) -> bool {
        self.image_at(range.start).is_none_or(|loaded| {
            let range = loaded.in_file(range.start)..loaded.in_file(range.end);
            loaded.image.code().may_be_entered(range)
        })
    }

    /// The readable name of the symbol at an address, and how far the address is into it.
    pub fn symbol_at(&self, address: u64) -> Option<(String, u64)> {
        let loaded = self.image_at(address)?;
        let in_file = loaded.in_file(address);
        let symbol = loaded.image.symbol_table().at(in_file)?;
        Some((function::symbol_name(symbol), in_file - symbol.address))
    }

    /// Code or data by the name that the linker knows. Stubs are not meant, but what they lead to.
    pub fn symbol(&self, name: &str) -> Option<SymbolAddress> {
        self.images.iter().find_map(|loaded| {
            let wanted = |symbol: &&Symbol| symbol.kind != SymbolKind::Stub;
            let symbol = loaded.image.symbol_table().named(name).find(wanted)?;
            let address = match symbol.kind {
                SymbolKind::ThreadLocal => symbol.address,
                _ => loaded.address(symbol.address),
            };
            Some(SymbolAddress { address, size: symbol.size, kind: symbol.kind, image: loaded.image.clone() })
        })
    }
}
