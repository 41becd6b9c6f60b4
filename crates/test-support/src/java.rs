//! Java programs that tests compile.

use crate::program::succeed;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles Java source files into a folder for classes.
#[track_caller]
pub fn compile(files: &[PathBuf], options: &[&str], into: &Path) {
    succeed(Command::new("javac").args(options).arg("-d").arg(into).args(files));
}

/// The Java source files of a folder, sorted.
pub fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry of the folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "java"))
        .collect();
    files.sort();
    files
}

/// Compiles the sources of a folder, unless an earlier test did. Returns the folder of the classes.
///
/// The classes are kept below `cache`, in a folder whose name depends on the sources and options. Concurrent calls from
/// several processes are allowed.
pub fn compile_once(folder: &Path, options: &[&str], cache: &Path) -> PathBuf {
    let files = sources(folder);
    let mut hasher = DefaultHasher::new();
    options.hash(&mut hasher);
    for file in &files {
        file.hash(&mut hasher);
        std::fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display())).hash(&mut hasher);
    }
    let target = cache.join(format!("java-{:x}", hasher.finish()));
    if !target.exists() {
        let fresh = tempfile::tempdir_in(cache).expect("a folder for classes");
        compile(&files, options, fresh.path());
        // If another process was faster, its classes are the same.
        let _ = std::fs::rename(fresh.keep(), &target);
    }
    target
}
