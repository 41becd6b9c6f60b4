//! Debug information in files of its own: found by build id, by `.gnu_debuglink`, and the supplementary file
//! of `.gnu_debugaltlink`.

use super::elf::{Outside, path_of};
use super::file;
use object::{Object, ObjectSection};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Where distributions keep debug files.
const SYSTEM: &str = "/usr/lib/debug";

/// Whether a file has debug information itself.
pub(super) fn has_debug_info(outside: &Outside) -> bool {
    outside.section(".debug_info").is_some() || outside.section(".zdebug_info").is_some()
}

/// Why debug information that a file announces cannot be read.
pub(super) fn unreadable(outside: &Outside) -> Option<String> {
    let section = outside.elf.section_by_name(".debug_info")?;
    let error = section.data().err()?;
    Some(format!("its section .debug_info cannot be read: {error}"))
}

/// The separate debug file of an image, and why the one that is named cannot be used.
pub(super) fn find(
    path: &Path,
    outside: &Outside,
    directories: &[PathBuf],
) -> Result<Option<(PathBuf, Outside)>, String> {
    let mut problem = None;
    for candidate in candidates(path, outside, directories) {
        // Followed links can lead back to the file itself.
        if !candidate.is_file() || same_file(&candidate, path) {
            continue;
        }
        match open(&candidate, outside) {
            Ok(found) => return Ok(Some((candidate, found))),
            Err(why) => problem = Some(format!("{}: {why}", candidate.display())),
        }
    }
    problem.map_or(Ok(None), Err)
}

/// The supplementary file that several debug files share, if one is named and can be found.
pub(super) fn supplementary(
    path: &Path,
    outside: &Outside,
    directories: &[PathBuf],
) -> Result<Option<Outside>, String> {
    let Ok(Some((name, id))) = outside.elf.gnu_debugaltlink() else { return Ok(None) };
    let mut candidates = Vec::new();
    let name = path_of(name);
    // A relative name is relative to the file that holds it, wherever links to it are.
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    candidates.push(real.parent().unwrap_or(Path::new("/")).join(&name));
    candidates.extend(by_build_id(id, directories));
    for candidate in candidates.iter().filter(|candidate| candidate.is_file()) {
        let Ok(bytes) = file::map(candidate) else { continue };
        let Ok(found) = Outside::read(bytes) else { continue };
        if found.build_id == Some(id) {
            return Ok(Some(found));
        }
    }
    Err(format!("the file it shares with others, {}, is not here", name.display()))
}

fn open(candidate: &Path, outside: &Outside) -> Result<Outside, String> {
    let bytes = file::map(candidate).map_err(|problem| problem.to_string())?;
    let found = Outside::read(bytes).map_err(|problem| problem.to_string())?;
    if outside.build_id.is_some() && found.build_id.is_some() && outside.build_id != found.build_id {
        return Err("it is of another build".to_owned());
    }
    Ok(found)
}

fn candidates(path: &Path, outside: &Outside, directories: &[PathBuf]) -> Vec<PathBuf> {
    let mut all = Vec::new();
    if let Some(id) = outside.build_id {
        all.extend(by_build_id(id, directories));
    }
    if let Ok(Some((name, _))) = outside.elf.gnu_debuglink() {
        let name = path_of(name);
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let place = real.parent().unwrap_or(Path::new("/"));
        all.push(place.join(&name));
        all.push(place.join(".debug").join(&name));
        for directory in roots(directories) {
            all.push(directory.join(place.strip_prefix("/").unwrap_or(place)).join(&name));
            all.push(directory.join(&name));
        }
    }
    all
}

fn by_build_id(id: &[u8], directories: &[PathBuf]) -> Vec<PathBuf> {
    let Some((first, rest)) = id.split_first() else { return Vec::new() };
    let mut name = format!(".build-id/{first:02x}/");
    for byte in rest {
        // Writing to a string does not fail.
        let _ = write!(name, "{byte:02x}");
    }
    name.push_str(".debug");
    roots(directories).map(|directory| directory.join(&name)).collect()
}

fn roots(directories: &[PathBuf]) -> impl Iterator<Item = &Path> {
    directories.iter().map(PathBuf::as_path).chain(std::iter::once(Path::new(SYSTEM)))
}

fn same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (one.metadata(), other.metadata()) {
        (Ok(one), Ok(other)) => one.dev() == other.dev() && one.ino() == other.ino(),
        _ => false,
    }
}
