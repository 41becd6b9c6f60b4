//! `invigil mac instrument`: instruments the classes of a Java program on disk.

use super::args::Instrument;
use super::scripts::{ScriptSet, unusable_script};
use crate::CliError;
use crate::files;
use crate::java_classes::{constant_literal, type_mismatches};
use crate::terminal::Terminal;
use invigil_expr::diag::{Diagnostic, SourceId, Span};
use invigil_jvm::{ClassPath, Instrumented, instrument};
use invigil_lang::medl::{MethodNaming, snapshots};
use invigil_lang::pedl;
use invigil_monitor::event::{EventCatalog, EventId};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(args: &Instrument, terminal: &Terminal) -> Result<ExitCode, CliError> {
    for path in &args.classes {
        let is_archive = || path.is_file() && path.extension().is_some_and(|ending| ending != "class");
        if !path.is_dir() && !is_archive() {
            return Err(CliError::new(format_args!(
                "{}: expected a directory of classes or a jar; pass the directory that contains the top-level packages, as for `java -cp`",
                path.display()
            )));
        }
    }
    let class_path_entries: Vec<String> =
        args.classes.iter().map(|path| path.display().to_string()).collect();
    let class_path = ClassPath::new(&class_path_entries.join(":"), Path::new(""));
    // Constants from the class files; those of `--constant` take precedence.
    let script_text = files::read(&args.script, "script")?;
    let script = pedl::parse(SourceId(0), &script_text).0;
    let declared = script.monitored.iter().map(|one| one.path.to_string());
    let names = pedl::constants(&script).into_iter().map(|(name, _)| name).chain(declared);
    let mut constants: Vec<_> =
        names.filter_map(|name| Some((name.clone(), constant_literal(&class_path, &name)?))).collect();
    constants.retain(|(name, _)| !args.program.constants.iter().any(|(other, _)| other == name));
    constants.extend_from_slice(&args.program.constants);
    let mut scripts = ScriptSet::new();
    let loaded = scripts.monitoring(&args.script, &constants)?;
    scripts.report(false, terminal)?;
    let (_, monitoring_script) = loaded.ok_or_else(|| unusable_script(&args.script))?;
    let mut catalog = EventCatalog::default();
    let spans: BTreeMap<EventId, Span> =
        snapshots(&monitoring_script, MethodNaming::WithTypes, &mut catalog).into_iter().collect();
    let done = instrument(&catalog, &class_path, &args.output).map_err(CliError::new)?;
    let mut missing = type_mismatches(&monitoring_script, &class_path);
    missing.extend(done.unresolved.iter().map(|unresolved| {
        let at = spans.get(&unresolved.event).copied().unwrap_or_default();
        let diagnostic = Diagnostic::error(at, unresolved.reason.as_str());
        if unresolved.help.is_empty() { diagnostic } else { diagnostic.help(unresolved.help.as_str()) }
    }));
    // The entry and the exit of one method are two events with the same error.
    missing.dedup();
    terminal.print(&summary(&done, &args.output, &class_path_entries))?;
    if !missing.is_empty() {
        terminal.eprint(&scripts.rendered(&missing, terminal));
    }
    Ok(if missing.is_empty() && done.skipped.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

fn summary(done: &Instrumented, folder: &Path, class_path_entries: &[String]) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    for class in &done.classes {
        let grown = 100.0 * (class.after as f64 / class.before as f64 - 1.0);
        let _ = writeln!(
            text,
            "{}: {} probes, {} → {} bytes (+{grown:.0} %)",
            class.name, class.probes, class.before, class.after
        );
    }
    for message in &done.skipped {
        let _ = writeln!(text, "not instrumented: {message}");
    }
    let _ = writeln!(
        text,
        "run with: invigil run --pedl … --medl … -- java -cp {}:{} …",
        folder.display(),
        class_path_entries.join(":")
    );
    text
}
