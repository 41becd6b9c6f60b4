//! Properties: from files to automata, with every mistake in every file reported at once.

use crate::Trouble;
use crate::files::{self, STDIN, is_standard};
use invigil_expr::diag::{Diagnostic, SourceId, Sources};
use invigil_lang::Written;
use invigil_lang::ltl::{self, Argument, Manner};
use invigil_lang::prop::{self, lower};
use invigil_lang::report::render;
use invigil_lang::scn::{self, Scenario};
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::{ANY, Catalog, STATE};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::thread;

/// Compilers are recursive, and hostile blocks nest deeply.
const STACK: usize = 256 << 20;

/// What messages call a formula that is given as such.
const COMMAND_LINE: &str = "<command line>";

/// Properties that are ready to be followed.
pub(crate) struct Loaded {
    pub(crate) automata: Vec<Automaton>,
    /// The properties as they are written, in the same order.
    pub(crate) written: Vec<Written>,
    /// Which of the files or formulae that were given each is from.
    pub(crate) given: Vec<usize>,
    pub(crate) catalog: Catalog,
    pub(crate) sources: Sources,
    pub(crate) warnings: Vec<Diagnostic>,
}

impl Loaded {
    /// Complaints about formulae that name no event: a program has nothing else to read them at.
    pub(crate) fn without_events(&self) -> Vec<Diagnostic> {
        let is_event = |symbol| self.catalog.get(symbol).is_some_and(|s| s.name != STATE && s.name != ANY);
        let lacking = |automaton: &&Automaton| {
            automaton.symbols().next().is_some() && !automaton.symbols().any(is_event)
        };
        let complain = |automaton: &Automaton| {
            let span = automaton.states.first().map(|state| state.span).unwrap_or_default();
            Diagnostic::error(span, "the formula names no event of the program")
                .label("read at which moments?")
                .help("say when it is to hold, by the name of a function: `G(queue_push -> …)`")
        };
        self.automata.iter().filter(lacking).map(complain).collect()
    }

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
    for (path, name) in properties.iter().zip(names(properties)) {
        let entry = files.entry(path, name);
        files.properties.extend(entry);
    }
    files.functions = functions.iter().filter_map(|path| files.read(path, "file of functions")).collect();
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
    let mut files = Files::default();
    let source = files.sources.add(file, text);
    files.properties.push(Entry { source, language: Language::Prop(name.to_owned()) });
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

/// A file of properties, or one given in its place.
struct Entry {
    source: SourceId,
    language: Language,
}

/// The language of a file, with what is said of its properties elsewhere.
enum Language {
    /// A property of this name.
    Prop(String),
    /// Formulae in a part of the source.
    Ltl(Range<usize>, Manner),
}

/// The name, with a number behind it if another property has it already.
fn unlike(name: &str, known: &[&str]) -> String {
    let numbered = (2..).map(|number| format!("{name} ({number})"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !known.contains(&name.as_str())).unwrap_or_default()
}

/// The files of one run, on their way.
#[derive(Default)]
struct Files {
    sources: Sources,
    properties: Vec<Entry>,
    functions: Vec<SourceId>,
    unreadable: Vec<String>,
}

impl Files {
    /// What was given as a property: a file in one of the languages, or a formula. `name` is that of the file.
    fn entry(&mut self, path: &Path, name: String) -> Option<Entry> {
        let text = path.to_str().unwrap_or_default();
        let (file, manner) = match Argument::parse(text) {
            None if path.extension().is_some_and(|ending| ending == "ltl") => (path, Manner::of_file(&name)),
            None => {
                let source = self.read(path, "property")?;
                return Some(Entry { source, language: Language::Prop(name) });
            }
            Some(argument) => {
                let source = self.sources.add(COMMAND_LINE, text);
                let manner = argument.manner(source, text);
                if !argument.is_file(text) {
                    return Some(Entry { source, language: Language::Ltl(argument.formula, manner) });
                }
                let file = Path::new(text[argument.formula].trim());
                let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
                (file, Manner { stem, ..manner })
            }
        };
        let source = self.read(file, "file of formulae")?;
        let length = self.sources.get(source).map_or(0, |source| source.text.len());
        Some(Entry { source, language: Language::Ltl(0..length, manner) })
    }

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
        let Files { sources, properties, functions, unreadable } = self;
        let text = |id: SourceId| sources.get(id).map_or("", |source| source.text.as_str());
        let functions: Vec<(SourceId, &str)> = functions.into_iter().map(|id| (id, text(id))).collect();
        let (catalog, compiled, diagnostics) = deeply(|| {
            let mut catalog = Catalog::default();
            let mut compiled = Vec::new();
            let mut diagnostics: Vec<Diagnostic> = Vec::new();
            for (given, Entry { source, language }) in properties.iter().enumerate() {
                let (all, found) = parse(*source, text(*source), language);
                // What could not be read would only be missed everywhere else.
                let readable = !found.iter().any(Diagnostic::is_error);
                diagnostics.extend(found);
                for (name, mut written) in all.into_iter().filter(|_| readable) {
                    let known: Vec<&str> = compiled
                        .iter()
                        .map(|(automaton, _): &(Automaton, _)| automaton.name.as_str())
                        .collect();
                    if let Written::Ltl(property) = &mut written {
                        property.name = unlike(&property.name, &known);
                    }
                    let (automaton, mut found) = match &written {
                        Written::Prop(property) => lower::lower(&name, property, &functions, &mut catalog),
                        Written::Ltl(property) => property.lower(&functions, &mut catalog),
                    };
                    // What is wrong with the functions is found anew for each property.
                    found.retain(|new| !diagnostics.contains(new));
                    diagnostics.extend(found);
                    compiled.extend(automaton.map(|automaton| (automaton, (written, given))));
                }
            }
            (catalog, compiled, diagnostics)
        })?;
        if unreadable.is_empty() && !diagnostics.iter().any(Diagnostic::is_error) {
            let (automata, rest): (Vec<_>, Vec<_>) = compiled.into_iter().unzip();
            let (written, given) = rest.into_iter().unzip();
            return Ok(Loaded { automata, written, given, catalog, sources, warnings: diagnostics });
        }
        let mut shown = unreadable;
        if !diagnostics.is_empty() {
            shown.push(render(&sources, &diagnostics, colour));
        }
        Err(Trouble::rendered(shown.join("\n\n")))
    }
}

/// The properties of a source, with their names.
fn parse(source: SourceId, text: &str, language: &Language) -> (Vec<(String, Written)>, Vec<Diagnostic>) {
    match language {
        Language::Prop(name) => {
            let (property, found) = prop::parse(source, text);
            (vec![(name.clone(), Written::Prop(property))], found)
        }
        Language::Ltl(part, manner) => {
            let (properties, found) = ltl::parse(source, text, part.clone(), manner.clone());
            let named =
                properties.into_iter().map(|property| (property.name.clone(), Written::Ltl(property)));
            (named.collect(), found)
        }
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
