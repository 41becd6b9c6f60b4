//! `invigil mac instrument`: classes of a Java program with probes, on disk.

use super::args::Instrument;
use super::scripts::{Scripts, unfit};
use crate::Trouble;
use crate::files;
use crate::terminal::Terminal;
use invigil_expr::diag::SourceId;
use invigil_jvm::{ClassPath, Instrumented, constant, instrument};
use invigil_lang::pedl;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(args: &Instrument, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    for path in &args.classes {
        let is_archive = || path.is_file() && path.extension().is_some_and(|ending| ending != "class");
        if !path.is_dir() && !is_archive() {
            return Err(Trouble::new(format_args!(
                "{}: give a folder of classes or a jar: the folder above the packages, as for `java -cp`",
                path.display()
            )));
        }
    }
    let class_path: Vec<String> = args.classes.iter().map(|path| path.display().to_string()).collect();
    let path = ClassPath::new(&class_path.join(":"), Path::new(""));
    // The constants that the class files have; those that are given have the last word.
    let text = files::read(&args.script, "script")?;
    let script = pedl::parse(SourceId(0), &text).0;
    let declared = script.monitored.iter().map(|one| one.path.to_string());
    let names = pedl::constants(&script).into_iter().map(|(name, _)| name).chain(declared);
    let mut constants: Vec<_> =
        names.filter_map(|name| Some((name.clone(), constant(&path, &name)?))).collect();
    constants.retain(|(name, _)| !args.program.constants.iter().any(|(other, _)| other == name));
    constants.extend_from_slice(&args.program.constants);
    let mut scripts = Scripts::new();
    let monitoring = scripts.monitoring(&args.script, &constants)?;
    scripts.report(false, terminal)?;
    let (_, recogniser) = monitoring.ok_or_else(|| unfit(&args.script))?;
    let done = instrument(&recogniser, &path, &args.output).map_err(Trouble::new)?;
    terminal.print(&told(&done, &args.output, &class_path))?;
    if !done.missing.is_empty() {
        terminal.complain(&scripts.shown(&done.missing, terminal));
    }
    Ok(if done.missing.is_empty() && done.left.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

fn told(done: &Instrumented, folder: &Path, class_path: &[String]) -> String {
    let mut told = String::new();
    // Writing to a string does not fail.
    for class in &done.classes {
        let grown = 100.0 * (class.after as f64 / class.before as f64 - 1.0);
        let _ = writeln!(
            told,
            "{}: {} probes, {} bytes grown to {} (+{grown:.0} %)",
            class.name, class.probes, class.before, class.after
        );
    }
    for words in &done.left {
        let _ = writeln!(told, "left alone: {words}");
    }
    let _ = writeln!(
        told,
        "run it with: invigil run --pedl … --medl … -- java -cp {}:{} …",
        folder.display(),
        class_path.join(":")
    );
    told
}
