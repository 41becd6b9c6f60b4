//! Hands the shared object of `invigil-probe-image` to the crate, which embeds it.

use std::env;
use std::fs;
use std::path::PathBuf;

const FILE: &str = "libinvigil_probe_image.so";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    // Cargo puts the directory of the libraries that it built for a build script into the script's search path.
    // Otherwise they are in the folder `deps` beside `build`, which contains `PACKAGE-HASH/out`.
    let search_path = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let beside = out.ancestors().nth(3).map(|profile| profile.join("deps"));
    let built = env::split_paths(&search_path)
        .chain(beside)
        .map(|folder| folder.join(FILE))
        .find(|file| file.is_file());
    let built = built
        .unwrap_or_else(|| panic!("cargo has built no {FILE}: neither in {search_path:?} nor in its `deps`"));
    fs::copy(&built, out.join(FILE))
        .unwrap_or_else(|error| panic!("cannot copy {}: {error}", built.display()));
}
