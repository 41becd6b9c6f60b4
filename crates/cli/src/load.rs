//! Loads properties and scenarios from files. Reports the errors of all property files together, then those of all
//! scenarios.

use crate::CliError;
use crate::files::{self, STDIN, is_standard};
use invigil_expr::diag::{Diagnostic, SourceId, Sources};
use invigil_lang::PropertySource;
use invigil_lang::ltl::{self, FormulaArgument, FormulaOptions};
use invigil_lang::prop::{self, lower};
use invigil_lang::report::render;
use invigil_lang::scn::{self, Scenario};
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::{ANY_EVENT, EventCatalog, STATE_EVENT};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::thread;

/// Stack size of the compiler threads. The compilers recurse, and hostile files nest deeply.
const STACK_SIZE: usize = 256 << 20;

/// Name of the source of formulae given on the command line.
const COMMAND_LINE: &str = "<command line>";

/// Compiled properties with their event catalog and sources.
pub(crate) struct Loaded {
    pub(crate) automata: Vec<Automaton>,
    /// The syntax trees of the properties, in the same order. The properties of scripts, which come last, have none.
    pub(crate) property_sources: Vec<PropertySource>,
    /// For each property, the index of the argument that it comes from. The properties of scripts have `usize::MAX`
    /// minus the index of their pair of scripts.
    pub(crate) argument_indexes: Vec<usize>,
    pub(crate) catalog: EventCatalog,
    pub(crate) sources: Sources,
    pub(crate) warnings: Vec<Diagnostic>,
}

impl Loaded {
    /// Errors for formulae that name no event: on a live program, formulae are evaluated only at events.
    pub(crate) fn formulae_without_events(&self) -> Vec<Diagnostic> {
        let is_event = |event_id| {
            self.catalog.get(event_id).is_some_and(|decl| decl.name != STATE_EVENT && decl.name != ANY_EVENT)
        };
        let has_no_event =
            |automaton: &&Automaton| automaton.events().next().is_some() && !automaton.events().any(is_event);
        let diagnostic = |automaton: &Automaton| {
            let span = automaton.states.first().map(|state| state.span).unwrap_or_default();
            Diagnostic::error(span, "the formula names no event of the program")
                .label("it is never evaluated")
                .help("use a function name as a proposition, such as `G(queue_push -> …)`")
        };
        self.automata.iter().filter(has_no_event).map(diagnostic).collect()
    }

    /// The rendered warnings; empty if there are none.
    pub(crate) fn warnings(&self, colour: bool) -> String {
        render(&self.sources, &self.warnings, colour)
    }
}

/// Loads and compiles properties, and the Python files with the functions of their blocks.
pub(crate) fn load(properties: &[PathBuf], functions: &[PathBuf], colour: bool) -> Result<Loaded, CliError> {
    if properties.iter().chain(functions).filter(|path| is_standard(path)).count() > 1 {
        return Err(CliError::new("`-` is specified twice, but there is only one standard input"));
    }
    let mut files = SourceFiles::default();
    for (path, name) in properties.iter().zip(names_from_paths(properties)) {
        let entry = files.entry(path, name);
        files.properties.extend(entry);
    }
    files.functions = functions.iter().filter_map(|path| files.read(path, "file of functions")).collect();
    files.compile(colour)
}

/// Loads and compiles scenarios for properties. Their sources and warnings are added to those of the properties.
pub(crate) fn load_scenarios(
    loaded: &mut Loaded,
    paths: &[PathBuf],
    colour: bool,
) -> Result<Vec<Scenario>, CliError> {
    let mut files = SourceFiles { sources: std::mem::take(&mut loaded.sources), ..SourceFiles::default() };
    let read: Vec<Option<SourceId>> = paths.iter().map(|path| files.read(path, "scenario")).collect();
    let SourceFiles { sources, unreadable, .. } = files;
    let automata: Vec<&Automaton> = loaded.automata.iter().collect();
    let (scenarios, diagnostics) = with_large_stack(|| {
        let mut scenarios = Vec::new();
        let mut diagnostics: Vec<Diagnostic> = Vec::new();
        for (id, name) in read.iter().zip(names_from_paths(paths)) {
            let Some(id) = id else { continue };
            let (parsed, found) = scn::parse(*id, sources.get(*id).map_or("", |source| source.text.as_str()));
            let is_valid = !found.iter().any(Diagnostic::is_error);
            diagnostics.extend(found);
            if is_valid {
                let (scenario, found) = scn::lower(&name, &parsed, &automata);
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
    Err(CliError::rendered(shown.join("\n\n")))
}

/// Compiles a property that is embedded in this binary.
pub(crate) fn bundled(name: &str, file: &str, text: &str) -> Result<Loaded, CliError> {
    let mut files = SourceFiles::default();
    let source = files.sources.add(file, text);
    files.properties.push(PropertyEntry { source, language: Language::Prop(name.to_owned()) });
    files.compile(false)
}

/// Runs work whose recursion depth depends on the user's files, on a thread with a large stack.
pub(crate) fn with_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, CliError> {
    thread::scope(|scope| {
        let worker =
            thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, work).map_err(|error| {
                CliError::new(format_args!("cannot start a thread to compile the files: {error}"))
            })?;
        worker.join().map_err(|_| CliError::new("internal error while compiling a file; please report this"))
    })
}

/// Names of properties or scenarios in reports: the stem of the file name, or the whole path if stems are ambiguous.
fn names_from_paths(paths: &[PathBuf]) -> Vec<String> {
    let stem = |path: &Path| path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let ambiguous = |path: &&PathBuf| paths.iter().filter(|other| stem(other) == stem(path)).count() > 1;
    let name = |path: &PathBuf| match path {
        path if is_standard(path) => "stdin".to_owned(),
        path if ambiguous(&path) => path.display().to_string(),
        path => stem(path),
    };
    paths.iter().map(name).collect()
}

/// A file of properties, or a formula from the command line.
struct PropertyEntry {
    source: SourceId,
    language: Language,
}

/// The language of a file, with the options from its argument.
enum Language {
    /// A property with this name.
    Prop(String),
    /// Formulae in a range of the source.
    Ltl(Range<usize>, FormulaOptions),
}

/// Makes a name unique by appending a number.
fn unique_name(name: &str, used: &[&str]) -> String {
    let numbered = (2..).map(|number| format!("{name} ({number})"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !used.contains(&name.as_str())).unwrap_or_default()
}

/// Files that are read and not yet compiled.
#[derive(Default)]
struct SourceFiles {
    sources: Sources,
    properties: Vec<PropertyEntry>,
    functions: Vec<SourceId>,
    unreadable: Vec<String>,
}

impl SourceFiles {
    /// Reads a property argument: a file in one of the languages, or a formula. `name` is the name derived from the
    /// file name.
    fn entry(&mut self, path: &Path, name: String) -> Option<PropertyEntry> {
        let text = path.to_str().unwrap_or_default();
        let (file, options) = match FormulaArgument::parse(text) {
            None if path.extension().is_some_and(|ending| ending == "ltl") => {
                (path, FormulaOptions::of_file(&name))
            }
            None => {
                let source = self.read(path, "property")?;
                return Some(PropertyEntry { source, language: Language::Prop(name) });
            }
            Some(argument) => {
                let source = self.sources.add(COMMAND_LINE, text);
                let options = argument.options(source, text);
                if !argument.is_file(text) {
                    return Some(PropertyEntry {
                        source,
                        language: Language::Ltl(argument.formula, options),
                    });
                }
                let file = Path::new(text[argument.formula].trim());
                let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
                (file, FormulaOptions { stem, ..options })
            }
        };
        let source = self.read(file, "file of formulae")?;
        let length = self.sources.get(source).map_or(0, |source| source.text.len());
        Some(PropertyEntry { source, language: Language::Ltl(0..length, options) })
    }

    fn read(&mut self, path: &Path, kind: &str) -> Option<SourceId> {
        match files::read(path, kind) {
            Ok(text) if is_standard(path) => Some(self.sources.add(STDIN, text)),
            Ok(text) => Some(self.sources.add(path.display().to_string(), text)),
            Err(error) => {
                self.unreadable.push(format!("error: {}", error.message));
                None
            }
        }
    }

    fn compile(self, colour: bool) -> Result<Loaded, CliError> {
        let SourceFiles { sources, properties, functions, unreadable } = self;
        let text = |id: SourceId| sources.get(id).map_or("", |source| source.text.as_str());
        let functions: Vec<(SourceId, &str)> = functions.into_iter().map(|id| (id, text(id))).collect();
        let (catalog, compiled, diagnostics) = with_large_stack(|| {
            let mut catalog = EventCatalog::default();
            let mut compiled = Vec::new();
            let mut diagnostics: Vec<Diagnostic> = Vec::new();
            for (argument_index, PropertyEntry { source, language }) in properties.iter().enumerate() {
                let (all, found) = parse(*source, text(*source), language);
                // A file with syntax errors is not compiled: the errors that follow from them are noise.
                let is_valid = !found.iter().any(Diagnostic::is_error);
                diagnostics.extend(found);
                for (name, mut property_source) in all.into_iter().filter(|_| is_valid) {
                    let used: Vec<&str> = compiled
                        .iter()
                        .map(|(automaton, _): &(Automaton, _)| automaton.name.as_str())
                        .collect();
                    if let PropertySource::Ltl(property) = &mut property_source {
                        property.name = unique_name(&property.name, &used);
                    }
                    let (automaton, mut found) = match &property_source {
                        PropertySource::Prop(property) => {
                            lower::lower(&name, property, &functions, &mut catalog)
                        }
                        PropertySource::Ltl(property) => property.lower(&functions, &mut catalog),
                    };
                    // Errors in functions are found again for each property; report them once.
                    found.retain(|new| !diagnostics.contains(new));
                    diagnostics.extend(found);
                    compiled
                        .extend(automaton.map(|automaton| (automaton, (property_source, argument_index))));
                }
            }
            (catalog, compiled, diagnostics)
        })?;
        if unreadable.is_empty() && !diagnostics.iter().any(Diagnostic::is_error) {
            let (automata, rest): (Vec<_>, Vec<_>) = compiled.into_iter().unzip();
            let (property_sources, argument_indexes) = rest.into_iter().unzip();
            return Ok(Loaded {
                automata,
                property_sources,
                argument_indexes,
                catalog,
                sources,
                warnings: diagnostics,
            });
        }
        let mut shown = unreadable;
        if !diagnostics.is_empty() {
            shown.push(render(&sources, &diagnostics, colour));
        }
        Err(CliError::rendered(shown.join("\n\n")))
    }
}

/// Parses a source into named properties.
fn parse(
    source: SourceId,
    text: &str,
    language: &Language,
) -> (Vec<(String, PropertySource)>, Vec<Diagnostic>) {
    match language {
        Language::Prop(name) => {
            let (property, found) = prop::parse(source, text);
            (vec![(name.clone(), PropertySource::Prop(property))], found)
        }
        Language::Ltl(part, options) => {
            let (properties, found) = ltl::parse(source, text, part.clone(), options.clone());
            let named =
                properties.into_iter().map(|property| (property.name.clone(), PropertySource::Ltl(property)));
            (named.collect(), found)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_paths_are_stems_unless_ambiguous() {
        let paths = ["a/queue.prop", "b/queue.prop", "c/gate.prop"].map(PathBuf::from);
        assert_eq!(names_from_paths(&paths), ["a/queue.prop", "b/queue.prop", "gate"]);
    }

    #[test]
    fn deeply_nested_block_does_not_overflow_stack() {
        let nested = format!("{}1{}", "(".repeat(20_000), ")".repeat(20_000));
        let text = format!("initialization {{ x = {nested} }}\nstate init accepting");
        // Either result is fine, as long as the process survives.
        let _ = bundled("deep", "deep.prop", &text);
    }
}
