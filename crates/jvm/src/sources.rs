//! Where the sources of a Java program are.

use invigil_jvm_agent::protocol::Spot;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Folders in which sources usually are.
const USUAL: [&str; 6] = ["", "src", "src/main/java", "src/test/java", "java", "app/src/main/java"];

/// Finds the files that classes were compiled from.
#[derive(Default)]
pub(crate) struct Sources {
    roots: Vec<PathBuf>,
    found: HashMap<String, PathBuf>,
}

impl Sources {
    /// Sources are looked for where the program runs, where we do, and around the class path.
    pub(crate) fn new(class_path: &str, directory: &Path) -> Sources {
        let mut bases = vec![directory.to_owned()];
        bases.extend(std::env::current_dir());
        for entry in class_path.split(':').filter(|entry| !entry.is_empty()) {
            let entry = directory.join(entry);
            // `build/classes` and `target/classes` lie inside of what also has the sources.
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

    /// The file of a place; if it is not found, its name as the class has it.
    pub(crate) fn file(&mut self, spot: &Spot) -> Option<PathBuf> {
        if spot.file.is_empty() {
            return None;
        }
        let package =
            spot.class.rsplit_once('.').map_or(String::new(), |(package, _)| package.replace('.', "/"));
        let inside = match package.as_str() {
            "" => spot.file.clone(),
            package => format!("{package}/{}", spot.file),
        };
        if let Some(known) = self.found.get(&inside) {
            return Some(known.clone());
        }
        let in_package = self.roots.iter().map(|root| root.join(&inside)).find(|path| path.is_file());
        // Not everyone keeps to the folders of packages.
        let anywhere = || self.roots.iter().map(|root| root.join(&spot.file)).find(|path| path.is_file());
        let found = in_package.or_else(anywhere).unwrap_or_else(|| PathBuf::from(&inside));
        self.found.insert(inside, found.clone());
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_lie_beside_classes_or_under_src() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("src/main/java/app")).unwrap();
        std::fs::create_dir_all(root.join("target/classes")).unwrap();
        std::fs::write(root.join("src/main/java/app/Queue.java"), "").unwrap();
        let spot = |class: &str, file: &str| Spot {
            class: class.into(),
            method: "push".into(),
            file: file.into(),
            line: 1,
            location: 0,
        };
        let mut sources = Sources::new("target/classes", root);
        assert_eq!(
            sources.file(&spot("app.Queue", "Queue.java")),
            Some(root.join("src/main/java/app/Queue.java"))
        );
        assert_eq!(sources.file(&spot("app.Other", "Other.java")), Some("app/Other.java".into()));
        assert_eq!(sources.file(&spot("app.Other", "")), None);
    }
}
