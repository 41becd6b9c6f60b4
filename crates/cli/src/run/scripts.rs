//! Monitoring and requirement scripts for a live program.

use crate::java_classes::{constant_literal, type_mismatches};
use crate::load::{Loaded, with_large_stack};
use crate::{CliError, files};
use invigil_expr::diag::{Diagnostic, SourceId, Span};
use invigil_jvm::ClassPath;
use invigil_lang::mac;
use invigil_lang::medl::{self, MethodNaming};
use invigil_lang::report::render;
use invigil_monitor::event::EventId;
use invigil_monitor::mac::ScriptPlan;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What is known about a program before it starts.
#[derive(Default)]
pub(crate) struct ProgramInfo {
    /// Class path and working directory of a Java program; none for native programs.
    pub(super) classes: Option<(String, PathBuf)>,
    /// Whether an undefined property counts as violated.
    pub(crate) undefined_violates: bool,
}

/// Options of `java` whose value may be the next word.
const OPTIONS_WITH_VALUE: [&str; 11] = [
    "-p",
    "--module-path",
    "--upgrade-module-path",
    "--add-modules",
    "--add-exports",
    "--add-opens",
    "--add-reads",
    "--limit-modules",
    "--patch-module",
    "--enable-native-access",
    "--source",
];

impl ProgramInfo {
    /// Determines the class path from the command line of a Java program.
    pub(crate) fn java(
        command: &[OsString],
        dir: Option<&Path>,
        env: &[(OsString, OsString)],
    ) -> ProgramInfo {
        let from_options = env.iter().find(|(name, _)| name == "CLASSPATH").map(|(_, value)| value.clone());
        let mut path = from_options.or_else(|| std::env::var_os("CLASSPATH")).unwrap_or_else(|| ".".into());
        let mut words = command.iter().skip(1);
        while let Some(word) = words.next() {
            let word = word.to_string_lossy();
            match word.split_once('=') {
                Some(("--class-path", value)) => path = value.into(),
                _ if matches!(&*word, "-cp" | "-classpath" | "--class-path" | "-jar") => {
                    path = words.next().cloned().unwrap_or_default();
                }
                _ if OPTIONS_WITH_VALUE.contains(&&*word) => drop(words.next()),
                // The main class; the program's arguments follow.
                _ if !word.starts_with('-') => break,
                _ => {}
            }
            if word == "-jar" {
                break;
            }
        }
        let dir = dir.map_or_else(|| PathBuf::from("."), Path::to_owned);
        ProgramInfo { classes: Some((path.to_string_lossy().into_owned(), dir)), undefined_violates: false }
    }

    /// Determines the class path of a running program.
    pub(crate) fn of_process(process: i32, is_java: bool) -> ProgramInfo {
        if !is_java {
            return ProgramInfo::default();
        }
        let command_line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let words = command_line
            .split(|byte| *byte == 0)
            .map(|word| String::from_utf8_lossy(word).into_owned().into());
        let command: Vec<OsString> = words.collect();
        ProgramInfo::java(&command, Some(Path::new(&format!("/proc/{process}/cwd"))), &[])
    }
}

/// Compiled pairs of scripts.
pub(crate) struct LoadedScripts {
    pub(crate) plans: Vec<ScriptPlan>,
    /// For each event of a monitored entity, where the monitoring script declares the entity.
    pub(crate) entity_spans: Vec<(EventId, Span)>,
}

/// Loads and compiles pairs of scripts. Their properties, sources and warnings are added to `loaded`.
pub(crate) fn load(
    loaded: &mut Loaded,
    scripts: &[(PathBuf, PathBuf)],
    program: &ProgramInfo,
    colour: bool,
) -> Result<LoadedScripts, CliError> {
    let (mut plans, mut entity_spans) = (Vec::new(), Vec::new());
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    for (at, (pedl, medl)) in scripts.iter().enumerate() {
        let sources = &mut loaded.sources;
        let mut read = |path: &Path| -> Result<SourceId, CliError> {
            let text = files::read(path, "script")?;
            Ok(sources.add(path.display().to_string(), text))
        };
        let (pedl, medl) = (read(pedl)?, read(medl)?);
        let text = |id: SourceId| (id, loaded.sources.get(id).map_or("", |source| source.text.as_str()));
        let (pedl, medl) = (text(pedl), text(medl));
        let (scripts, found) = with_large_stack(|| match &program.classes {
            Some((path, dir)) => {
                let classes = ClassPath::new(path, dir);
                let (scripts, mut found) = mac::load(pedl, medl, &|name| constant_literal(&classes, name));
                found.extend(scripts.iter().flat_map(|scripts| type_mismatches(&scripts.pedl, &classes)));
                (scripts, found)
            }
            None => mac::load(pedl, medl, &|_| None),
        })?;
        diagnostics.extend(found);
        let Some(scripts) = scripts else { continue };
        let names = if program.classes.is_some() { MethodNaming::WithTypes } else { MethodNaming::Plain };
        let connected = medl::connect(
            &scripts.pedl,
            &scripts.medl,
            names,
            program.undefined_violates,
            &mut loaded.catalog,
        )
        .map_err(CliError::new)?;
        for automaton in connected.automata {
            loaded.automata.push(automaton);
            loaded.argument_indexes.push(usize::MAX - at);
        }
        plans.push(connected.plan);
        entity_spans.extend(connected.event_spans);
    }
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(CliError::rendered(render(&loaded.sources, &diagnostics, colour)));
    }
    loaded.warnings.extend(diagnostics);
    Ok(LoadedScripts { plans, entity_spans })
}
