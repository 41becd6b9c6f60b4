//! Makes what sessions need: files as `check` reads them, and the program.

use super::scripts::{self, Program};
use crate::load::{load, load_scenarios};
use invigil_cockpit::{Files, Loaded, Workshop};
use invigil_lang::report::render;
use invigil_session::subject::{Done, Subject};
use std::sync::Arc;

/// Begins the program.
pub(crate) type Begin = Box<dyn FnMut() -> Done<Box<dyn Subject>>>;

pub(crate) struct Shop {
    pub(crate) begin: Begin,
    /// Whether messages about files are coloured.
    pub(crate) colour: bool,
    /// What is known of the program before it begins.
    pub(crate) program: Program,
}

/// Reads and compiles files for a program.
pub(crate) fn read(files: &Files, program: &Program, colour: bool) -> Result<Loaded, String> {
    let words = |trouble: crate::Trouble| match trouble.rendered {
        true => trouble.message,
        false => format!("error: {}", trouble.message),
    };
    let mut read = load(&files.properties, &files.functions, colour).map_err(words)?;
    let unwatchable = read.without_events();
    if !unwatchable.is_empty() {
        return Err(render(&read.sources, &unwatchable, colour));
    }
    let scripts = scripts::load(&mut read, &files.scripts, program, colour).map_err(words)?;
    let scenarios = load_scenarios(&mut read, &files.scenarios, colour).map_err(words)?;
    let warnings = read.warnings(colour);
    Ok(Loaded {
        automata: read.automata.into_iter().map(Arc::new).collect(),
        written: read.written,
        given: read.given,
        catalog: read.catalog,
        scripts: scripts.plans,
        places: scripts.places,
        scenarios: scenarios.into_iter().map(Arc::new).collect(),
        sources: read.sources,
        warnings,
    })
}

impl Workshop for Shop {
    fn load(&mut self, files: &Files) -> Result<Loaded, String> {
        read(files, &self.program, self.colour)
    }

    fn begin(&mut self) -> Done<Box<dyn Subject>> {
        (self.begin)()
    }
}
