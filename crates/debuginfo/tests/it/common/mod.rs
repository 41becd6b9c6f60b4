//! Small programs for the tests, compiled when needed.

pub(crate) mod live_values;
pub(crate) mod stopped_process;

use invigil_debuginfo::image::Image;
use invigil_debuginfo::program::Program;
use std::path::Path;
use std::sync::Arc;

/// A program of one image.
pub(crate) fn program(path: &Path, bias: u64) -> (Program, Arc<Image>) {
    let image = Image::open(path).unwrap();
    let mut program = Program::new();
    program.add(image.clone(), bias);
    (program, image)
}

/// The sorted names of the matching functions.
pub(crate) fn names(program: &Program, query: &str) -> Vec<String> {
    let mut names: Vec<String> = program
        .functions(query)
        .into_iter()
        .map(|function| function.signature.unwrap_or(function.name))
        .collect();
    names.sort();
    names
}

/// The number of the first line that contains a text.
pub(crate) fn line_with(text: &str, part: &str) -> u32 {
    text.lines().position(|line| line.contains(part)).unwrap() as u32 + 1
}
