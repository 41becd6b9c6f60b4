//! The scripts of the examples have no errors.

use crate::mac::common::{good_medl, good_pedl};
use invigil_lang::pedl::ast::Literal;
use std::fs;
use std::path::{Path, PathBuf};

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut found: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|e| e == ending)).collect();
    found.sort();
    found
}

#[test]
fn example_scripts_load() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let folders = fs::read_dir(root).expect("examples").map(|entry| entry.expect("an entry").path());
    let mut seen = 0;
    for folder in folders.filter(|path| path.is_dir()) {
        // The constants come from the target.
        let read = |path: &Path| {
            println!("{}", path.display());
            let is_constant =
                |name: &str| name.rsplit('.').next().is_some_and(|last| last == last.to_uppercase());
            let constants = |name: &str| is_constant(name).then_some(Literal::Int(1));
            good_pedl(&fs::read_to_string(path).expect("a script"), &constants)
        };
        let monitoring: Vec<PathBuf> = files(&folder, "pedl");
        monitoring.iter().for_each(|path| drop(read(path)));
        for path in files(&folder, "medl") {
            // The one of the same name, or the first one.
            let same = monitoring.iter().find(|pedl| pedl.file_stem() == path.file_stem());
            let pedl = read(same.or(monitoring.first()).expect("a monitoring script beside it"));
            println!("{}", path.display());
            good_medl(&fs::read_to_string(&path).expect("a script"), Some(&pedl));
            seen += 1;
        }
    }
    assert!(seen > 5, "there are examples");
}
