//! Monitoring and requirement scripts for a live program.

use crate::load::{Loaded, deeply};
use crate::{Trouble, files};
use invigil_expr::diag::{Diagnostic, SourceId, Span};
use invigil_jvm::{ClassPath, constant, strange_types};
use invigil_lang::mac;
use invigil_lang::medl::{self, Names};
use invigil_lang::report::render;
use invigil_monitor::event::SymbolId;
use invigil_monitor::mac::Plan;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What is known of a program before it begins.
#[derive(Default)]
pub(crate) struct Program {
    /// Where a Java program's classes are; nothing for other programs.
    pub(super) classes: Option<(String, PathBuf)>,
    /// Whether a property that is undefined is violated.
    pub(crate) strict: bool,
}

impl Program {
    /// A Java program that is about to be started, by its command line.
    pub(crate) fn java(command: &[OsString], dir: Option<&Path>, env: &[(OsString, OsString)]) -> Program {
        let given = env.iter().find(|(name, _)| name == "CLASSPATH").map(|(_, value)| value.clone());
        let mut path = given.or_else(|| std::env::var_os("CLASSPATH")).unwrap_or_else(|| ".".into());
        let mut words = command.iter().skip(1);
        while let Some(word) = words.next() {
            let word = word.to_string_lossy();
            match word.split_once('=') {
                Some(("--class-path", value)) => path = value.into(),
                _ if matches!(&*word, "-cp" | "-classpath" | "--class-path" | "-jar") => {
                    path = words.next().cloned().unwrap_or_default();
                }
                // The main class: what follows is the program's.
                _ if !word.starts_with('-') => break,
                _ => {}
            }
            if word == "-jar" {
                break;
            }
        }
        let dir = dir.map_or_else(|| PathBuf::from("."), Path::to_owned);
        Program { classes: Some((path.to_string_lossy().into_owned(), dir)), strict: false }
    }

    /// A program that runs.
    pub(crate) fn running(process: i32, is_java: bool) -> Program {
        if !is_java {
            return Program::default();
        }
        let told = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let words =
            told.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned().into());
        let command: Vec<OsString> = words.collect();
        Program::java(&command, Some(Path::new(&format!("/proc/{process}/cwd"))), &[])
    }
}

/// Scripts that are ready to be followed.
pub(crate) struct Scripts {
    pub(crate) plans: Vec<Plan>,
    /// Where they name what makes an event.
    pub(crate) places: Vec<(SymbolId, Span)>,
}

/// Reads and compiles pairs of scripts. Their properties, texts and warnings are added to those that are loaded.
pub(crate) fn load(
    loaded: &mut Loaded,
    scripts: &[(PathBuf, PathBuf)],
    program: &Program,
    colour: bool,
) -> Result<Scripts, Trouble> {
    let (mut plans, mut places) = (Vec::new(), Vec::new());
    let mut problems: Vec<Diagnostic> = Vec::new();
    for (at, (pedl, medl)) in scripts.iter().enumerate() {
        let sources = &mut loaded.sources;
        let mut read = |path: &Path| -> Result<SourceId, Trouble> {
            let text = files::read(path, "script")?;
            Ok(sources.add(path.display().to_string(), text))
        };
        let (pedl, medl) = (read(pedl)?, read(medl)?);
        let text = |id: SourceId| (id, loaded.sources.get(id).map_or("", |source| source.text.as_str()));
        let (pedl, medl) = (text(pedl), text(medl));
        let (scripts, found) = deeply(|| match &program.classes {
            Some((path, dir)) => {
                let classes = ClassPath::new(path, dir);
                let (scripts, mut found) = mac::load(pedl, medl, &|name| constant(&classes, name));
                found.extend(scripts.iter().flat_map(|scripts| strange_types(&scripts.pedl, &classes)));
                (scripts, found)
            }
            None => mac::load(pedl, medl, &|_| None),
        })?;
        problems.extend(found);
        let Some(scripts) = scripts else { continue };
        let names = if program.classes.is_some() { Names::WithTypes } else { Names::Plain };
        let watched = medl::watch(&scripts.pedl, &scripts.medl, names, program.strict, &mut loaded.catalog)
            .map_err(Trouble::new)?;
        for automaton in watched.automata {
            loaded.automata.push(automaton);
            loaded.given.push(usize::MAX - at);
        }
        plans.push(watched.plan);
        places.extend(watched.places);
    }
    if problems.iter().any(Diagnostic::is_error) {
        return Err(Trouble::rendered(render(&loaded.sources, &problems, colour)));
    }
    loaded.warnings.extend(problems);
    Ok(Scripts { plans, places })
}
