//! The images (executable and libraries) that are mapped in the target.

use crate::maps::{self, Mapping};
use invigil_debuginfo::image::Image;
use invigil_debuginfo::machine::Memory;
use invigil_debuginfo::program::{MappedImage, Program};
use invigil_target::{TargetError, TargetResult};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Offset of the loader's state in its `r_debug` record.
const LOADER_STATE: u64 = 24;

/// Updates the list of images. Returns whether it changed.
pub(crate) fn sync(program: &mut Program, process: i32) -> TargetResult<bool> {
    let error = |error| TargetError::Control(format!("cannot read the program's memory map: {error}"));
    let all = maps::read(process).map_err(error)?;
    let main = std::fs::read_link(format!("/proc/{process}/exe")).map_err(error)?;
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
                Err(error) if path == main => {
                    return Err(TargetError::Control(format!("cannot load `{}`: {error}", path.display())));
                }
                // A mapped file that is not a library, or was replaced since.
                Err(_) => continue,
            },
        };
        if let Some(bias) = bias(&image, map) {
            seen.push((path, image, bias));
        }
    }
    // The executable comes first, and is searched first.
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

/// Computes the load bias of an image from one of its mappings.
fn bias(image: &Image, map: &Mapping) -> Option<u64> {
    let segment = image.segments().iter().find(|segment| {
        // Segments may share a page of the file; only one of them is code.
        let begin = segment.file_offset & !0xfff;
        segment.executable && (begin..segment.file_offset + segment.file_size.max(1)).contains(&map.offset)
    })?;
    let in_file = segment.address.wrapping_sub(segment.file_offset).wrapping_add(map.offset);
    Some(map.range.start.wrapping_sub(in_file))
}

/// The function that the loader calls when libraries are loaded or unloaded.
pub(crate) fn loader_hook(program: &Program) -> Option<u64> {
    program.symbol("_dl_debug_state").map(|symbol| symbol.address)
}

/// Whether a loader maps libraries before the program starts. A static program contains the loader's hook as well,
/// but may never call it.
pub(crate) fn has_loader(program: &Program) -> bool {
    let hook_image = loader_hook(program).and_then(|hook| program.image_at(hook));
    let main = program.images().first();
    hook_image.zip(main).is_some_and(|(hook_image, main)| !Arc::ptr_eq(&hook_image.image, &main.image))
}

/// Address ranges of images that were unmapped.
pub(crate) fn removed_ranges(before: &[MappedImage], now: &[MappedImage]) -> Vec<Range<u64>> {
    let same = |one: &MappedImage, other: &MappedImage| {
        Arc::ptr_eq(&one.image, &other.image) && one.bias == other.bias
    };
    let removed = before.iter().filter(|old| !now.iter().any(|new| same(old, new)));
    let segments = removed.flat_map(|old| {
        old.image.segments().iter().map(|segment| {
            let start = old.address(segment.address);
            start..start + segment.size
        })
    });
    segments.collect()
}

/// Whether the loader has completed the change that it reported.
pub(crate) fn is_consistent(program: &Program, memory: &dyn Memory) -> bool {
    let state = program.symbol("_r_debug").map(|symbol| memory.word(symbol.address + LOADER_STATE));
    state.is_none_or(|state| state.is_ok_and(|state| state as u32 == 0))
}
