//! Finding the sources of a Java program.

use invigil_jvm_agent::protocol::CodeLocation;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Usual source directories.
const USUAL: [&str; 6] = ["", "src", "src/main/java", "src/test/java", "java", "app/src/main/java"];

/// Finds the files that classes were compiled from.
#[derive(Default)]
pub(crate) struct Sources {
    roots: Vec<PathBuf>,
    found: HashMap<String, PathBuf>,
}

impl Sources {
    /// Prepares the search in the program's and the debugger's working directories, and around the class path.
    pub(crate) fn new(class_path: &str, directory: &Path) -> Sources {
        let mut bases = vec![directory.to_owned()];
        bases.extend(std::env::current_dir());
        for entry in class_path.split(':').filter(|entry| !entry.is_empty()) {
            let entry = directory.join(entry);
            // `build/classes` and `target/classes` are inside a directory that also has the sources.
            bases.extend(entry.ancestors().take(3).map(Path::to_owned));
        }
        let mut roots = Vec::new();
        for root in bases.iter().flat_map(|base| USUAL.map(|usual| base.join(usual))) {
            if !roots.contains(&root) && root.is_dir() {
                roots.push(root);
            }
        }
        Sources { roots, found: HashMap::new() }
    }

    /// The source file of a code location. If it is not found, its name as in the class file.
    pub(crate) fn file(&mut self, location: &CodeLocation) -> Option<PathBuf> {
        if location.file.is_empty() {
            return None;
        }
        let package =
            location.class.rsplit_once('.').map_or(String::new(), |(package, _)| package.replace('.', "/"));
        let inside = match package.as_str() {
            "" => location.file.clone(),
            package => format!("{package}/{}", location.file),
        };
        if let Some(known) = self.found.get(&inside) {
            return Some(known.clone());
        }
        let in_package = self.roots.iter().map(|root| root.join(&inside)).find(|path| path.is_file());
        // Sources need not be in the directories of their packages.
        let anywhere = || self.roots.iter().map(|root| root.join(&location.file)).find(|path| path.is_file());
        let found = in_package.or_else(anywhere).unwrap_or_else(|| PathBuf::from(&inside));
        self.found.insert(inside, found.clone());
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_found_by_package_near_the_class_path() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("src/main/java/app")).unwrap();
        std::fs::create_dir_all(root.join("target/classes")).unwrap();
        std::fs::write(root.join("src/main/java/app/Queue.java"), "").unwrap();
        let location = |class: &str, file: &str| CodeLocation {
            class: class.into(),
            method: "push".into(),
            file: file.into(),
            line: 1,
            bytecode_index: 0,
        };
        let mut sources = Sources::new("target/classes", root);
        assert_eq!(
            sources.file(&location("app.Queue", "Queue.java")),
            Some(root.join("src/main/java/app/Queue.java"))
        );
        assert_eq!(sources.file(&location("app.Other", "Other.java")), Some("app/Other.java".into()));
        assert_eq!(sources.file(&location("app.Other", "")), None);
    }
}
