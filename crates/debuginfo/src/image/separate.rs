//! Separate debug information: found by build id, by `.gnu_debuglink`, and the supplementary file of
//! `.gnu_debugaltlink`.

use super::elf::{ElfFile, path_of};
use super::file;
use object::{Object, ObjectSection};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Where distributions install debug files.
const SYSTEM: &str = "/usr/lib/debug";

/// Whether a file contains debug information itself.
pub(super) fn has_debug_info(elf_file: &ElfFile) -> bool {
    elf_file.section(".debug_info").is_some() || elf_file.section(".zdebug_info").is_some()
}

/// Why the debug information of a file cannot be read, if it has some that is unreadable.
pub(super) fn unreadable_reason(elf_file: &ElfFile) -> Option<String> {
    let section = elf_file.elf.section_by_name(".debug_info")?;
    let error = section.data().err()?;
    Some(format!("section .debug_info cannot be read: {error}"))
}

/// Finds the separate debug file of an image, or the reason why the one that is named cannot be used.
pub(super) fn find(
    path: &Path,
    elf_file: &ElfFile,
    directories: &[PathBuf],
) -> Result<Option<(PathBuf, ElfFile)>, String> {
    let mut error = None;
    for candidate in candidates(path, elf_file, directories) {
        // A link may lead back to the file itself.
        if !candidate.is_file() || same_file(&candidate, path) {
            continue;
        }
        match open(&candidate, elf_file) {
            Ok(found) => return Ok(Some((candidate, found))),
            Err(why) => error = Some(format!("{}: {why}", candidate.display())),
        }
    }
    error.map_or(Ok(None), Err)
}

/// Finds the supplementary file that several debug files share, if one is named.
pub(super) fn supplementary(
    path: &Path,
    elf_file: &ElfFile,
    directories: &[PathBuf],
) -> Result<Option<ElfFile>, String> {
    let Ok(Some((name, id))) = elf_file.elf.gnu_debugaltlink() else { return Ok(None) };
    let mut candidates = Vec::new();
    let name = path_of(name);
    // A relative name is relative to the file that contains it, not to links to that file.
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    candidates.push(real.parent().unwrap_or(Path::new("/")).join(&name));
    candidates.extend(by_build_id(id, directories));
    for candidate in candidates.iter().filter(|candidate| candidate.is_file()) {
        let Ok(bytes) = file::map(candidate) else { continue };
        let Ok(found) = ElfFile::read(bytes) else { continue };
        if found.build_id == Some(id) {
            return Ok(Some(found));
        }
    }
    Err(format!("supplementary debug file {} not found", name.display()))
}

fn open(candidate: &Path, elf_file: &ElfFile) -> Result<ElfFile, String> {
    let bytes = file::map(candidate).map_err(|error| error.to_string())?;
    let found = ElfFile::read(bytes).map_err(|error| error.to_string())?;
    if elf_file.build_id.is_some() && found.build_id.is_some() && elf_file.build_id != found.build_id {
        return Err("build id differs".to_owned());
    }
    Ok(found)
}

fn candidates(path: &Path, elf_file: &ElfFile, directories: &[PathBuf]) -> Vec<PathBuf> {
    let mut all = Vec::new();
    if let Some(id) = elf_file.build_id {
        all.extend(by_build_id(id, directories));
    }
    if let Ok(Some((name, _))) = elf_file.elf.gnu_debuglink() {
        let name = path_of(name);
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let folder = real.parent().unwrap_or(Path::new("/"));
        all.push(folder.join(&name));
        all.push(folder.join(".debug").join(&name));
        for directory in roots(directories) {
            all.push(directory.join(folder.strip_prefix("/").unwrap_or(folder)).join(&name));
            all.push(directory.join(&name));
        }
    }
    all
}

fn by_build_id(id: &[u8], directories: &[PathBuf]) -> Vec<PathBuf> {
    let Some((first, rest)) = id.split_first() else { return Vec::new() };
    let mut name = format!(".build-id/{first:02x}/");
    for byte in rest {
        // Writing to a `String` cannot fail.
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
