//! Functions that are active at an address: the one with the code, and those inlined there.

use super::line::call_line;
use super::{Line, MappedImage, Program, function};
use crate::image::Die;
use crate::inlining;

/// A function that is active at an address.
#[derive(Clone, Debug)]
pub struct ActiveFunction {
    /// The image that contains it.
    pub mapped: MappedImage,
    /// The qualified name.
    pub name: String,
    /// The DWARF entry: the function with the code, or the inlined instance.
    pub die: Option<Die>,
    /// Its first address.
    pub entry: u64,
    /// Whether it is inlined into the next one.
    pub is_inlined: bool,
    /// The call in the next one, if it is inlined.
    pub call: Option<Line>,
}

impl Program {
    /// The functions that are active at an address, innermost first. The last one has the code; the others are inlined,
    /// each into the next. A function without debug information is known by its symbol.
    pub fn inline_chain(&self, address: u64) -> Vec<ActiveFunction> {
        let Some(mapped) = self.image_at(address) else { return Vec::new() };
        let image = &*mapped.image;
        let in_file = mapped.in_file(address);
        let functions = image.functions();
        let Some(entry) = functions.at(in_file).and_then(|number| functions.entry(number)) else {
            return from_symbol(mapped, in_file).into_iter().collect();
        };
        let own = functions.number(entry.die).map(|number| functions.full_name(image, number).0);
        let mut chain = vec![ActiveFunction {
            mapped: mapped.clone(),
            name: own.unwrap_or_default(),
            die: Some(entry.die),
            entry: mapped.address(entry.start),
            is_inlined: false,
            call: None,
        }];
        for instance in inlining::instances_at(image, entry.die, in_file) {
            let name = instance.of.map(|number| functions.full_name(image, number).0);
            chain.push(ActiveFunction {
                mapped: mapped.clone(),
                name: name.unwrap_or_else(|| "(unnamed)".to_owned()),
                die: Some(instance.die),
                entry: mapped.address(instance.entry),
                is_inlined: true,
                call: instance.call.and_then(|call| call_line(image, instance.die, call)),
            });
        }
        chain.reverse();
        chain
    }
}

fn from_symbol(mapped: &MappedImage, in_file: u64) -> Option<ActiveFunction> {
    let symbol = mapped.image.symbol_table().at(in_file).filter(|_| mapped.image.is_code(in_file))?;
    Some(ActiveFunction {
        mapped: mapped.clone(),
        name: function::symbol_name(symbol),
        die: None,
        entry: mapped.address(symbol.address),
        is_inlined: false,
        call: None,
    })
}
