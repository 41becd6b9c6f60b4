//! Compiled programs, and a virtual machine to run them.

use std::fs;
use std::path::Path;

use invigil_weave::{Capture, ProbePlan, Site, SkippedMethod, compare, weave};

use super::plans::{Labelled, named};
use super::{HELPER, Java};

/// Compiled programs, and a virtual machine to run them.
pub(crate) struct Programs {
    pub(crate) java: Java,
}

impl Programs {
    pub(crate) fn compile(test: &str, sources: &[&str]) -> Option<Programs> {
        let java = Java::find(test)?;
        java.tool();
        java.helper(&super::logging_helper());
        let programs = Programs { java };
        if !sources.is_empty() {
            programs.add(sources);
        }
        Some(programs)
    }

    /// Compiles programs of the corpus, or of whole paths.
    pub(crate) fn add(&self, sources: &[&str]) {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java/corpus");
        let sources: Vec<_> = sources
            .iter()
            .map(|source| match source.ends_with(".java") {
                true => (*source).to_owned(),
                false => corpus.join(format!("{source}.java")).display().to_string(),
            })
            .collect();
        let mut arguments = vec!["-g", "-d", "plain"];
        arguments.extend(sources.iter().map(String::as_str));
        self.java.run("javac", &arguments);
    }

    /// Weaves all compiled classes into a folder.
    pub(crate) fn weave(&self, into: &str, plan: &mut dyn ProbePlan) {
        let skipped = self.weave_some(into, plan);
        assert!(skipped.is_empty(), "{skipped:?}");
    }

    /// Like `weave`, but returns the skipped methods.
    pub(crate) fn weave_some(&self, into: &str, plan: &mut dyn ProbePlan) -> Vec<SkippedMethod> {
        let mut skipped = Vec::new();
        let plain = self.java.folder.join("plain");
        for entry in fs::read_dir(plain).unwrap() {
            let path = entry.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            let name = path.file_name().unwrap().to_str().unwrap();
            let bytes = match weave(&bytes, HELPER, plan).unwrap() {
                Some(woven) => {
                    let growth = compare(&bytes, &woven.bytes, HELPER).unwrap_or_else(|difference| {
                        panic!("{name}: {difference}");
                    });
                    assert!(growth.probes >= woven.probes && growth.bytes_after == woven.bytes.len());
                    skipped.extend(woven.skipped);
                    woven.bytes
                }
                None => bytes,
            };
            self.java.write(&format!("{into}/{name}"), &bytes);
        }
        skipped
    }

    /// Runs a program. Returns its output and the log of reports.
    pub(crate) fn run(&self, from: &str, main: &str) -> (String, String) {
        let path = format!("tool:{from}");
        let patch = ["-Xverify:all", "--patch-module", "java.base=patch", "-cp", &path];
        let out = self.java.run("java", &[&patch[..], &["Tool", "run", main, "log"]].concat());
        (out, fs::read_to_string(self.java.folder.join("log")).unwrap())
    }

    /// Weaves and runs a program. Returns the log of reports with labels.
    pub(crate) fn heard<F: FnMut(&Site<'_>) -> Vec<Vec<Capture>>>(
        &self,
        main: &str,
        mut plan: Labelled<F>,
    ) -> String {
        self.weave("woven", &mut plan);
        named(&self.run("woven", main).1, &plan.labels)
    }
}
