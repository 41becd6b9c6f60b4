//! Trace folders: `3-b.trace` contains the observations of component `b` in run 3.

use super::{LineInput, Observation, ObservationError, ObservationInput};
use invigil_decent::system::System;
use invigil_decent::text::pairs;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Returns the name of a component by index: `a`, `b`, … `z`, `aa`, `ab`, …
///
/// ```
/// use invigil_lab::inputs::component_letter;
/// assert_eq!([0, 25, 26, 27].map(component_letter), ["a", "z", "aa", "ab"]);
/// ```
pub fn component_letter(component: usize) -> String {
    let mut name = String::new();
    let mut rest = component + 1;
    while rest > 0 {
        rest -= 1;
        name.insert(0, char::from(b'a' + (rest % 26) as u8));
        rest /= 26;
    }
    name
}

/// Folder of traces of one system.
#[derive(Debug)]
pub struct TraceFolder {
    path: PathBuf,
    /// Components are named by letters; their propositions are those in the traces.
    pub system: System,
    /// Number of runs, counted from 0.
    pub runs: usize,
}

/// Observations of one run: for each component and round.
pub type RecordedRun = Vec<Vec<Vec<Observation>>>;

impl TraceFolder {
    /// Scans a folder.
    ///
    /// # Errors
    /// Fails if there are no traces, if one is missing or malformed, or if two components observe the same proposition.
    pub fn open(path: &Path) -> Result<TraceFolder, ObservationError> {
        let mut folder = TraceFolder { path: path.to_owned(), system: System::default(), runs: 0 };
        let components = (0..).take_while(|component| folder.file(0, *component).is_file()).count();
        while folder.file(folder.runs, 0).is_file() {
            for component in 0..components {
                folder.collect_propositions(component)?;
            }
            folder.runs += 1;
        }
        match folder.runs {
            0 => Err(ObservationError::new(
                path.display(),
                "there are no traces: the first one must be named `0-a.trace`",
            )),
            _ => Ok(folder),
        }
    }

    /// Collects the propositions of a component in the next run.
    fn collect_propositions(&mut self, component: usize) -> Result<(), ObservationError> {
        let file = self.file(self.runs, component);
        let text = fs::read_to_string(&file).map_err(|error| ObservationError::new(file.display(), error))?;
        let id = self
            .system
            .component(&component_letter(component))
            .map_err(|error| ObservationError::new(file.display(), error))?;
        for (at, line) in text.lines().enumerate() {
            let error_at = |message: String| {
                ObservationError::new(format_args!("{}:{}", file.display(), at + 1), message)
            };
            for pair in pairs(line) {
                let (name, _) = pair.map_err(error_at)?;
                self.system.proposition(id, name).map_err(|error| error_at(error.to_string()))?;
            }
        }
        Ok(())
    }

    fn file(&self, run: usize, component: usize) -> PathBuf {
        self.path.join(format!("{run}-{}.trace", component_letter(component)))
    }

    /// Reads a run.
    ///
    /// # Errors
    /// Fails if a trace has been removed or changed since the scan.
    pub fn run(&self, run: usize) -> Result<RecordedRun, ObservationError> {
        let system = Arc::new(self.system.clone());
        let components = self.system.components().map(|component| {
            let file = self.file(run, component.index());
            let mut lines = LineInput::open(&file, component, Arc::clone(&system))?;
            let (mut rounds, mut seen) = (Vec::new(), Vec::new());
            while lines.next(&mut seen)? {
                rounds.push(std::mem::take(&mut seen));
            }
            Ok(rounds)
        });
        components.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_scan_finds_system_and_runs() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in
            [("0-a", "a0:t\na0:f,a1:t\n"), ("0-b", "b0:t\n\n"), ("1-a", "a0:f\n"), ("1-b", "b0:f\n")]
        {
            fs::write(folder.path().join(format!("{name}.trace")), text).unwrap();
        }
        let found = TraceFolder::open(folder.path()).unwrap();
        assert_eq!(
            (found.runs, found.system.components().len(), found.system.propositions().len()),
            (2, 2, 3)
        );
        let run = found.run(0).unwrap();
        assert_eq!(run.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
        assert_eq!(run[0][1].len(), 2);
        fs::write(folder.path().join("1-b.trace"), "a0:t\n").unwrap();
        let clash = TraceFolder::open(folder.path()).unwrap_err();
        assert!(clash.to_string().ends_with("1-b.trace:1: `a0` is observed by both a and b"), "{clash}");
        fs::remove_file(folder.path().join("1-b.trace")).unwrap();
        assert!(TraceFolder::open(folder.path()).unwrap_err().to_string().contains("1-b.trace"));
        assert!(TraceFolder::open(&folder.path().join("no")).unwrap_err().to_string().contains("no traces"));
    }
}
