//! Which functions are active at an address: the one that has it, and those that are inlined there.

use super::line::call_line;
use super::{Line, Loaded, Program, function};
use crate::image::Die;
use crate::inlining;

/// A function that is active at an address.
#[derive(Clone, Debug)]
pub struct Activation {
    /// The image it is in.
    pub loaded: Loaded,
    /// Its qualified name.
    pub name: String,
    /// Its debug information: the function with code, or the inlined copy.
    pub die: Option<Die>,
    /// Where it begins.
    pub entry: u64,
    /// Whether it is inlined into the next one.
    pub is_inlined: bool,
    /// Where the next one calls it, if it is inlined.
    pub call: Option<Line>,
}

impl Program {
    /// The functions that are active at an address, the innermost first. The last one has the code; those
    /// before it are inlined, each into the next. A function without debug information is known by its symbol.
    pub fn inline_chain(&self, address: u64) -> Vec<Activation> {
        let Some(loaded) = self.image_at(address) else { return Vec::new() };
        let image = &*loaded.image;
        let in_file = loaded.in_file(address);
        let functions = image.functions();
        let Some(entry) = functions.at(in_file).and_then(|number| functions.entry(number)) else {
            return by_symbol(loaded, in_file).into_iter().collect();
        };
        let own = functions.number(entry.die).map(|number| functions.full_name(image, number).0);
        let mut chain = vec![Activation {
            loaded: loaded.clone(),
            name: own.unwrap_or_default(),
            die: Some(entry.die),
            entry: loaded.address(entry.start),
            is_inlined: false,
            call: None,
        }];
        for copy in inlining::copies_at(image, entry.die, in_file) {
            let name = copy.of.map(|number| functions.full_name(image, number).0);
            chain.push(Activation {
                loaded: loaded.clone(),
                name: name.unwrap_or_else(|| "(unnamed)".to_owned()),
                die: Some(copy.die),
                entry: loaded.address(copy.entry),
                is_inlined: true,
                call: copy.call.and_then(|call| call_line(image, copy.die, call)),
            });
        }
        chain.reverse();
        chain
    }
}

fn by_symbol(loaded: &Loaded, in_file: u64) -> Option<Activation> {
    let symbol = loaded.image.symbol_table().at(in_file).filter(|_| loaded.image.is_code(in_file))?;
    Some(Activation {
        loaded: loaded.clone(),
        name: function::symbol_name(symbol),
        die: None,
        entry: loaded.address(symbol.address),
        is_inlined: false,
        call: None,
    })
}
