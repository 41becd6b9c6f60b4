//! Which files the program's code is from, and where they are mapped.

use crate::maps::{self, Mapping};
use invigil_debuginfo::image::Image;
use invigil_debuginfo::machine::Memory;
use invigil_debuginfo::program::{Loaded, Program};
use invigil_session::subject::{Done, Trouble};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Where the loader says, in its own records, whether it is in the middle of something.
const LOADER_STATE: u64 = 24;

/// Brings what is known of the program's images up to date; says whether anything changed.
pub(crate) fn sync(program: &mut Program, process: i32) -> Done<bool> {
    let gone = |error| Trouble::Subject(format!("cannot see what the program has mapped: {error}"));
    let all = maps::read(process).map_err(gone)?;
    let main = std::fs::read_link(format!("/proc/{process}/exe")).map_err(gone)?;
    let mut seen: Vec<(PathBuf, Arc<Image>, u64)> = Vec::new();
    let files =
        all.iter().filter(|map| map.execute && map.path.as_ref().is_some_and(|path| path.is_absolute()));
    for map in files {
        let path = map.path.clone().unwrap_or_default();
        if seen.iter().any(|(known, ..)| *known == path) {
            continue;
        }
        let known = program.images().iter().find(|loaded| loaded.image.path() == path);
        let image = match known {
            Some(loaded) => Arc::clone(&loaded.image),
            None => match Image::open(&path) {
                Ok(image) => image,
                Err(problem) if path == main => {
                    return Err(Trouble::Subject(format!("cannot watch `{}`: {problem}", path.display())));
                }
                // A mapped file that is no library, or was replaced since.
                Err(_) => continue,
            },
        };
        if let Some(bias) = bias(&image, map) {
            seen.push((path, image, bias));
        }
    }
    // The program itself comes first, and is looked through first.
    seen.sort_by_key(|(path, ..)| *path != main);
    let same = seen.len() == program.images().len()
        && program.images().iter().all(|loaded| {
            seen.iter().any(|(_, image, bias)| Arc::ptr_eq(image, &loaded.image) && *bias == loaded.bias)
        });
    if !same {
        *program = Program::new();
        for (_, image, bias) in seen {
            program.add(image, bias);
        }
    }
    Ok(!same)
}

/// What is to be added to an image's own addresses, seen from one of its mappings.
fn bias(image: &Image, map: &Mapping) -> Option<u64> {
    let segment = image.segments().iter().find(|segment| {
        // Segments may share a page of the file; only one of them is code.
        let begin = segment.file_offset & !0xfff;
        segment.executable && (begin..segment.file_offset + segment.file_size.max(1)).contains(&map.offset)
    })?;
    let in_file = segment.address.wrapping_sub(segment.file_offset).wrapping_add(map.offset);
    Some(map.range.start.wrapping_sub(in_file))
}

/// The function that the loader calls when libraries come or go.
pub(crate) fn loader_hook(program: &Program) -> Option<u64> {
    program.symbol("_dl_debug_state").map(|symbol| symbol.address)
}

/// Whether a loader brings in libraries before the program begins. A static program has the function that a
/// loader calls, too, but need not ever call it.
pub(crate) fn has_loader(program: &Program) -> bool {
    let hooked = loader_hook(program).and_then(|hook| program.image_at(hook));
    let main = program.images().first();
    hooked.zip(main).is_some_and(|(hooked, main)| !Arc::ptr_eq(&hooked.image, &main.image))
}

/// The addresses of images that were there before and are not there now.
pub(crate) fn gone(before: &[Loaded], now: &[Loaded]) -> Vec<Range<u64>> {
    let same = |one: &Loaded, other: &Loaded| Arc::ptr_eq(&one.image, &other.image) && one.bias == other.bias;
    let left = before.iter().filter(|old| !now.iter().any(|new| same(old, new)));
    let segments = left.flat_map(|old| {
        old.image.segments().iter().map(|segment| {
            let start = old.address(segment.address);
            start..start + segment.size
        })
    });
    segments.collect()
}

/// Whether the loader is done with what it told of.
pub(crate) fn is_consistent(program: &Program, memory: &dyn Memory) -> bool {
    let state = program.symbol("_r_debug").map(|symbol| memory.word(symbol.address + LOADER_STATE));
    state.is_none_or(|state| state.is_ok_and(|state| state as u32 == 0))
}
