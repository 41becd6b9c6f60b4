//! Diagnostics as users see them: `tests/diagnostics` contains one file per error, with the rendered text beside it.
//!
//! `UPDATE_EXAMPLES=1 cargo test -p invigil-lang --test it diagnostics` writes the texts. Read the difference before
//! keeping it. A PEDL and a MEDL script of one name are a pair. A file without a `.stderr` file must produce
//! no diagnostics.

use crate::model::predicates;
use invigil_expr::diag::{Diagnostic, Sources};
use invigil_lang::{decent, dve, ltl, mac, medl, model, pedl, prop, report, scn, themis};
use invigil_ltl::Budget;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::EventCatalog;
use invigil_test_support::{language, snapshot};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

macro_rules! folders {
    ($($test:ident: $folder:literal,)*) => {
        const FOLDERS: &[&str] = &[$($folder),*];

        $(#[test]
        fn $test() {
            check($folder);
        })*
    };
}

folders! {
    decentralized_several: "dec/several",
    decentralized_statements: "dec/statements",
    decentralized_templates: "dec/templates",
    dve_declarations: "dve/declarations",
    dve_processes: "dve/processes",
    dve_several: "dve/several",
    dve_transitions: "dve/transitions",
    formula_arguments: "ltl/arguments",
    formula_files: "ltl/files",
    formula_reserved_events: "ltl/reserved",
    medl_circles: "medl/circles",
    medl_declarations: "medl/declarations",
    medl_expressions: "medl/expressions",
    medl_guards: "medl/guards",
    medl_imports: "medl/imports",
    medl_method_calls: "medl/method-calls",
    medl_pairs: "medl/pairs",
    medl_script: "medl/script",
    medl_several: "medl/several",
    medl_valid: "medl/valid",
    medl_warnings: "medl/warnings",
    model_declarations: "model/declarations",
    model_several: "model/several",
    model_transitions: "model/transitions",
    model_warnings: "model/warnings",
    pedl_circles: "pedl/circles",
    pedl_declarations: "pedl/declarations",
    pedl_expressions: "pedl/expressions",
    pedl_script: "pedl/script",
    pedl_several: "pedl/several",
    pedl_valid: "pedl/valid",
    pedl_warnings: "pedl/warnings",
    predicates_over_models: "predicate",
    property_branches: "prop/branches",
    property_events: "prop/events",
    property_related_places: "prop/related",
    property_several: "prop/several",
    property_states: "prop/states",
    property_top_level: "prop/top-level",
    scenario_callbacks: "scn/callbacks",
    scenario_reactions: "scn/reactions",
    scenario_several: "scn/several",
    themis_files: "themis",
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics")
}

/// Compares the diagnostics of all files in a folder with the texts beside them.
fn check(folder: &str) {
    let entries = fs::read_dir(root().join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let all: BTreeSet<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    let is_text = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "stderr");
    let (texts, inputs): (Vec<PathBuf>, Vec<PathBuf>) = all.into_iter().partition(is_text);
    // The requirement script of a pair is rendered with its monitoring script.
    let is_part = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "medl") && path.with_extension("pedl").exists()
    };
    let inputs: Vec<PathBuf> = inputs.into_iter().filter(|path| !is_part(path)).collect();
    assert!(!inputs.is_empty(), "{folder} is empty");
    snapshot::assert_all(inputs.iter().map(|input| {
        let shown = diagnose(input);
        let shown = if shown.is_empty() { shown } else { shown + "\n" };
        snapshot::compare(&input.with_extension("stderr"), &shown)
    }));
    let expected: BTreeSet<PathBuf> = inputs.iter().map(|input| input.with_extension("stderr")).collect();
    for text in texts {
        assert!(expected.contains(&text), "{} has no input", text.display());
    }
}

/// The rendered diagnostics of a file.
fn diagnose(path: &Path) -> String {
    let mut sources = Sources::default();
    let read =
        |path: &Path| fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let text = read(path);
    let source = sources.add(name(path), text.as_str());
    let has_errors = |diagnostics: &[Diagnostic]| diagnostics.iter().any(Diagnostic::is_error);
    let (is_loaded, diagnostics) = match path.extension().unwrap().to_str().unwrap() {
        "prop" => {
            let (property, mut diagnostics) = prop::parse(source, &text);
            let mut automaton = None;
            if !has_errors(&diagnostics) {
                let (lowered, more) =
                    prop::lower::lower("test", &property, &[], &mut EventCatalog::default());
                automaton = lowered;
                diagnostics.extend(more);
            }
            (automaton.is_some(), diagnostics)
        }
        "ltl" => {
            let (properties, diagnostics) =
                ltl::parse(source, &text, 0..text.len(), ltl::FormulaOptions::of_file("test"));
            lower_formulae(&properties, diagnostics)
        }
        // As it is written on the command line.
        "formula" => {
            let argument = ltl::FormulaArgument::parse(&text).expect("a formula");
            let options = argument.options(source, &text);
            let (properties, diagnostics) = ltl::parse(source, &text, argument.formula, options);
            lower_formulae(&properties, diagnostics)
        }
        "pedl" if path.with_extension("medl").exists() => {
            let medl = path.with_extension("medl");
            let requirement = read(&medl);
            let medl = sources.add(name(&medl), requirement.as_str());
            let (loaded, diagnostics) = mac::load((source, &text), (medl, &requirement), &|_| None);
            (loaded.is_some(), diagnostics)
        }
        "pedl" => {
            let (script, mut diagnostics) = pedl::parse(source, &text);
            let mut lowered = None;
            if !has_errors(&diagnostics) {
                let (found, more) = pedl::lower(&script, &|_| None);
                lowered = found;
                diagnostics.extend(more);
            }
            (lowered.is_some(), diagnostics)
        }
        "medl" => {
            let (script, mut diagnostics) = medl::parse(source, &text);
            let mut lowered = None;
            if !has_errors(&diagnostics) {
                let (found, more) = medl::lower(&script, None);
                lowered = found;
                diagnostics.extend(more);
            }
            (lowered.is_some(), diagnostics)
        }
        "model" => {
            let (loaded, diagnostics) = model::load(source, &text);
            (loaded.is_some(), diagnostics)
        }
        "dve" => {
            let (loaded, diagnostics) = dve::load(source, &text, &dve::Options::default());
            (loaded.is_some(), diagnostics)
        }
        "predicate" => match model::predicate(&predicates::model(), source, &text) {
            Ok(_) => (true, Vec::new()),
            Err(diagnostics) => (false, diagnostics),
        },
        // Errors in the monitors are found when the network is made.
        "dec" => match decent::load(source, &text) {
            (Some(loaded), mut diagnostics) => {
                let failed = loaded.network(Budget::default()).err();
                let is_network = failed.is_none();
                diagnostics.extend(failed.unwrap_or_default());
                (is_network, diagnostics)
            }
            (None, diagnostics) => (false, diagnostics),
        },
        "xml" => {
            let (loaded, diagnostics) = themis::load(source, &text, None);
            (loaded.is_some(), diagnostics)
        }
        "scn" => {
            let (scenario, mut diagnostics) = scn::parse(source, &text);
            let [queue, lift] = properties();
            let (lowered, more) = scn::lower("test", &scenario, &[&queue, &lift]);
            diagnostics.extend(more);
            (lowered.is_some() && !has_errors(&diagnostics), diagnostics)
        }
        other => panic!("{}: nothing reads .{other}", path.display()),
    };
    let shown = report::render(&sources, &diagnostics, false);
    assert_eq!(is_loaded, !has_errors(&diagnostics), "{}\n{shown}", path.display());
    shown
}

fn lower_formulae(properties: &[ltl::Property], mut diagnostics: Vec<Diagnostic>) -> (bool, Vec<Diagnostic>) {
    let mut is_loaded = diagnostics.is_empty();
    if is_loaded {
        let mut catalog = EventCatalog::default();
        for property in properties {
            let (automaton, more) = property.lower(&[], &mut catalog);
            is_loaded &= automaton.is_some();
            diagnostics.extend(more);
        }
    }
    (is_loaded, diagnostics)
}

/// The properties that scenarios are about: with the states `init`, `ready`, `sink`, and `init`, `up`.
fn properties() -> [Automaton; 2] {
    let queue = "state init accepting { transition { event new() success ready } }
        state ready { transition { event push() success sink } } state sink non-accepting";
    let lift = "state init { transition { event call() success up } } state up accepting";
    [("queue", queue), ("lift", lift)]
        .map(|(name, text)| language::property(name, text, &mut EventCatalog::default()))
}

#[test]
fn all_folders_are_tested() {
    let mut found = BTreeSet::new();
    let mut open = vec![root()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(folder.strip_prefix(root()).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    let tested: BTreeSet<String> = FOLDERS.iter().map(|folder| (*folder).to_owned()).collect();
    assert_eq!(found, tested);
}
