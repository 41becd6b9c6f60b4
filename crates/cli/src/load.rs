//! Properties: from files to automata, with every mistake in every file reported at once.

use crate::Trouble;
use crate::files::{self, STDIN, is_standard};
use invigil_expr::diag::{Diagnostic, SourceId, Sources};
use invigil_lang::prop::{self, Property, lower};
use invigil_lang::report::render;
use invigil_lang::scn::{self, Scenario};
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::Catalog;
use std::path::{Path, PathBuf};
use std::thread;

/// Compilers are recursive, and hostile blocks nest deeply.
const STACK: usize = 256 << 20;

/// Properties that are ready to be followed.
pub(crate) struct Loaded {
    pub(crate) automata: Vec<Automaton>,
    /// The properties as they are written, in the same order.
    pub(crate) written: Vec<Property>,
    pub(crate) catalog: Catalog,
    pub(crate) sources: Sources,
    pub(crate) warnings: Vec<Diagnostic>,
}

impl Loaded {
    /// The warnings as they are shown; empty if there are none.
    pub(crate) fn warnings(&self, colour: bool) -> String {
        render(&self.sources, &self.warnings, colour)
    }
}

/// Reads and compiles properties, with the files of functions that their blocks may call.
pub(crate) fn load(properties: &[PathBuf], functions: &[PathBuf], colour: bool) -> Result<Loaded, Trouble> {
    if properties.iter().chain(functions).filter(|path| is_standard(path)).count() > 1 {
        return Err(Trouble::new("`-` is given twice, but there is only one standard input"));
    }
    let mut files = Files::default();
    files.properties = properties.iter().filter_map(|path| files.read(path, "property")).collect();
    files.functions = functions.iter().filter_map(|path| files.read(path, "file of functions")).collect();
    files.names = names(properties);
    files.compile(colour)
}

/// Reads and compiles scenarios for properties; their texts and warnings are added to those of the properties.
pub(crate) fn load_scenarios(
    loaded: &mut Loaded,
    paths: &[PathBuf],
    colour: bool,
) -> Result<Vec<Scenario>, Trouble> {
    let mut files = Files { sources: std::mem::take(&mut loaded.sources), ..Files::default() };
    let read: Vec<Option<SourceId>> = paths.iter().map(|path| files.read(path, "scenario")).collect();
    let Files { sources, unreadable, .. } = files;
    let automata: Vec<&Automaton> = loaded.automata.iter().collect();
    let (scenarios, diagnostics) = deeply(|| {
        let mut scenarios = Vec::new();
        let mut diagnostics: Vec<Diagnostic> = Vec::new();
        for (id, name) in read.iter().zip(names(paths)) {
            let Some(id) = id else { continue };
            let (written, found) =
                scn::parse(*id, sources.get(*id).map_or("", |source| source.text.as_str()));
            let readable = !found.iter().any(Diagnostic::is_error);
            diagnostics.extend(found);
            if readable {
                let (scenario, found) = scn::lower(&name, &written, &automata);
                diagnostics.extend(found);
                scenarios.extend(scenario);
            }
        }
        (scenarios, diagnostics)
    })?;
    loaded.sources = sources;
    if unreadable.is_empty() && !diagnostics.iter().any(Diagnostic::is_error) {
        loaded.warnings.extend(diagnostics);
        return Ok(scenarios);
    }
    let mut shown = unreadable;
    if !diagnostics.is_empty() {
        shown.push(render(&loaded.sources, &diagnostics, colour));
    }
    Err(Trouble::rendered(shown.join("\n\n")))
}

/// Compiles a property that is part of this command.
pub(crate) fn bundled(name: &str, file: &str, text: &str) -> Result<Loaded, Trouble> {
    let mut files = Files { names: vec![name.to_owned()], ..Files::default() };
    let source = files.sources.add(file, text);
    files.properties.push(source);
    files.compile(false)
}

/// Runs something that recurses as deeply as the user's files make it.
pub(crate) fn deeply<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Trouble> {
    thread::scope(|scope| {
        let worker = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).map_err(|error| {
            Trouble::new(format_args!("cannot start a thread to read the properties: {error}"))
        })?;
        worker.join().map_err(|_| Trouble::new("the property could not be read: please report this"))
    })
}

/// What the reports call each property: the name of its file, if that tells them apart.
fn names(paths: &[PathBuf]) -> Vec<String> {
    let stem = |path: &Path| path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let ambiguous = |path: &&PathBuf| paths.iter().filter(|other| stem(other) == stem(path)).count() > 1;
    let name = |path: &PathBuf| match path {
        path if is_standard(path) => "stdin".to_owned(),
        path if ambiguous(&path) => path.display().to_string(),
        path => stem(path),
    };
    paths.iter().map(name).collect()
}

/// The files of one run, on their way.
#[derive(Default)]
struct Files {
    sources: Sources,
    names: Vec<String>,
    properties: Vec<SourceId>,
    functions: Vec<SourceId>,
    unreadable: Vec<String>,
}

impl Files {
    fn read(&mut self, path: &Path, kind: &str) -> Option<SourceId> {
        match files::read(path, kind) {
            Ok(text) if is_standard(path) => Some(self.sources.add(STDIN, text)),
            Ok(text) => Some(self.sources.add(path.display().to_string(), text)),
            Err(trouble) => {
                self.unreadable.push(format!("error: {}", trouble.message));
                None
            }
        }
    }

    fn compile(self, colour: bool) -> Result<Loaded, Trouble> {
        let Files { sources, names, properties, functions, unreadable } = self;
        let text = |id: SourceId| sources.get(id).map_or("", |source| source.text.as_str());
        let functions: Vec<(SourceId, &str)> = functions.into_iter().map(|id| (id, text(id))).collect();
        let (catalog, compiled, diagnostics) = deeply(|| {
            let mut catalog = Catalog::default();
            let mut compiled = Vec::new();
            let mut diagnostics: Vec<Diagnostic> = Vec::new();
            for (id, name) in properties.iter().zip(&names) {
                let (written, found) = prop::parse(*id, text(*id));
                // What could not be read would only be missed everywhere else.
                let readable = !found.iter().any(Diagnostic::is_error);
                diagnostics.extend(found);
                if readable {
                    let (automaton, mut found) = lower::lower(name, &written, &functions, &mut catalog);
                    // What is wrong with the functions is found anew for each property.
                    found.retain(|new| !diagnostics.contains(new));
                    diagnostics.extend(found);
                    compiled.extend(automaton.map(|automaton| (automaton, written)));
                }
            }
            (catalog, compiled, diagnostics)
        })?;
        if unreadable.is_empty() && !diagnostics.iter().any(Diagnostic::is_error) {
            let (automata, written) = compiled.into_iter().unzip();
            return Ok(Loaded { automata, written, catalog, sources, warnings: diagnostics });
        }
        let mut shown = unreadable;
        if !diagnostics.is_empty() {
            shown.push(render(&sources, &diagnostics, colour));
        }
        Err(Trouble::rendered(shown.join("\n\n")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_short_as_they_can_be() {
        let paths = ["a/queue.prop", "b/queue.prop", "c/gate.prop"].map(PathBuf::from);
        assert_eq!(names(&paths), ["a/queue.prop", "b/queue.prop", "gate"]);
    }

    #[test]
    fn deep_blocks_do_not_end_the_command() {
        let nested = format!("{}1{}", "(".repeat(20_000), ")".repeat(20_000));
        let text = format!("initialization {{ x = {nested} }}\nstate init accepting");
        // Whether it is accepted is for the language to say.
        let _ = bundled("deep", "deep.prop", &text);
    }
}
