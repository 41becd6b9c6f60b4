//! Provides sessions with their compiled files and their target.

use super::scripts::{self, ProgramInfo};
use crate::load::{load, load_scenarios};
use invigil_cockpit::{Files, LoadedFiles, SessionFactory};
use invigil_lang::report::render;
use invigil_target::{Target, TargetResult};
use std::sync::Arc;

/// Starts the target or attaches to it.
pub(crate) type StartTarget = Box<dyn FnMut() -> TargetResult<Box<dyn Target>>>;

/// Loads files with the loaders of `check` and starts the target with a closure.
pub(crate) struct FileSessionFactory {
    pub(crate) start: StartTarget,
    /// Whether diagnostics are coloured.
    pub(crate) colour: bool,
    /// What is known about the program before it starts.
    pub(crate) program: ProgramInfo,
}

/// Loads and compiles the files of a session.
pub(crate) fn load_files(files: &Files, program: &ProgramInfo, colour: bool) -> Result<LoadedFiles, String> {
    let text = |error: crate::CliError| match error.rendered {
        true => error.message,
        false => format!("error: {}", error.message),
    };
    let mut read = load(&files.properties, &files.functions, colour).map_err(text)?;
    let never_evaluated = read.formulae_without_events();
    if !never_evaluated.is_empty() {
        return Err(render(&read.sources, &never_evaluated, colour));
    }
    let scripts = scripts::load(&mut read, &files.scripts, program, colour).map_err(text)?;
    let scenarios = load_scenarios(&mut read, &files.scenarios, colour).map_err(text)?;
    let warnings = read.warnings(colour);
    Ok(LoadedFiles {
        automata: read.automata.into_iter().map(Arc::new).collect(),
        property_sources: read.property_sources,
        file_of_property: read.argument_indexes,
        catalog: read.catalog,
        scripts: scripts.plans,
        entity_spans: scripts.entity_spans,
        scenarios: scenarios.into_iter().map(Arc::new).collect(),
        sources: read.sources,
        warnings,
    })
}

impl SessionFactory for FileSessionFactory {
    fn load(&mut self, files: &Files) -> Result<LoadedFiles, String> {
        load_files(files, &self.program, self.colour)
    }

    fn start_target(&mut self) -> TargetResult<Box<dyn Target>> {
        (self.start)()
    }
}
