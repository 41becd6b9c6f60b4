//! Files that pretend to be programs.

use invigil_debuginfo::image::Image;
use invigil_debuginfo::program::Program;
use std::path::Path;

/// Any bytes are looked into for symbols, functions and lines without a panic.
pub(crate) fn run(data: &[u8]) {
    let Ok(image) = Image::from_bytes(Path::new("fuzz"), data.to_vec()) else { return };
    let entry = image.entry();
    let mut program = Program::new();
    program.add(image, 0);
    program.functions("main");
    program.similar("mian", 3);
    program.symbol_at(entry);
    program.inline_chain(entry);
    program.line_of(entry);
    program.macro_definition("size", Some(entry));
}
