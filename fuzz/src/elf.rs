//! Malformed ELF files.

use invigil_debuginfo::image::Image;
use invigil_debuginfo::program::Program;
use std::path::Path;

/// No input causes a panic when symbols, functions, lines and macros are looked up.
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
