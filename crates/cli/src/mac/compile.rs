//! `invigil mac compile`: the static phase.

use super::args::Compile;
use super::scripts::Scripts;
use crate::Trouble;
use crate::files;
use crate::terminal::Terminal;
use invigil_lang::medl;
use invigil_lang::pedl::{self, ast::Sort};
use invigil_mac::plan;
use invigil_monitor::mac::{Abstraction, Type};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(super) fn run(args: &Compile, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    let of = |is_medl: bool| {
        let ending = |path: &&PathBuf| path.extension().is_some_and(|ending| ending == "medl");
        args.scripts.iter().filter(move |path| ending(path) == is_medl)
    };
    if of(true).count() > 1 || of(false).count() > 1 {
        return Err(Trouble::new(
            "give one monitoring script (.pedl) and one requirement script (.medl), or one of them",
        ));
    }
    let mut scripts = Scripts::new();
    let mut monitoring = None;
    for path in of(false) {
        monitoring = scripts.monitoring(path, &args.program.constants)?;
    }
    let exports = monitoring.as_ref().map(|(_, lowered)| lowered.exports.as_slice());
    let mut requirements = None;
    for path in of(true) {
        // Without the other script, which has mistakes, there is no telling what it exports.
        requirements = scripts.requirements(path, exports)?;
    }
    scripts.report(false, terminal)?;
    std::fs::create_dir_all(&args.output).map_err(|error| {
        Trouble::new(format_args!("{}: the folder cannot be made: {error}", args.output.display()))
    })?;
    let mut told = String::new();
    let write = |name: &str, ending: &str, text: &str, told: &mut String| {
        let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let path = args.output.join(format!("{stem}.{ending}.json"));
        files::write(&path, text, terminal)?;
        // Writing to a string does not fail.
        let _ = writeln!(told, "  written: {}", path.display());
        Ok::<(), Trouble>(())
    };
    if let Some((compiled, lowered)) = &monitoring {
        describe_monitoring(&mut told, &compiled.name, lowered);
        write(&compiled.name, "recogniser", &compiled.to_json(), &mut told)?;
        write(&compiled.name, "instrumentation", &plan(lowered), &mut told)?;
    }
    if let Some((compiled, lowered)) = &requirements {
        describe_requirements(&mut told, &compiled.name, lowered);
        write(&compiled.name, "checker", &compiled.to_json(), &mut told)?;
    }
    terminal.print(&told)?;
    Ok(ExitCode::SUCCESS)
}

fn describe_monitoring(told: &mut String, name: &str, lowered: &pedl::Lowered) {
    let _ = writeln!(told, "{name}: monitoring script{}", titled(lowered.title.as_deref()));
    let abstractions = lowered.parts.abstractions();
    for entity in &lowered.entities {
        let ty = entity.ty.as_ref().map_or("void".to_owned(), ToString::to_string);
        let scope = entity.scope.as_ref().map_or(String::new(), |scope| {
            format!(", only {}in {}", if scope.is_negated { "not " } else { "" }, scope.path)
        });
        let note = match entity.id {
            _ if entity.is_constant => ", a constant".to_owned(),
            pedl::Id::Variable(variable) if lowered.options.valueabstract.is_some() => {
                match abstractions.get(variable.0 as usize) {
                    Some(Abstraction::Thresholds(all)) => {
                        format!(", told when one of {} comparisons changes", all.len())
                    }
                    _ => ", every value told".to_owned(),
                }
            }
            _ => String::new(),
        };
        let _ = writeln!(told, "  watches {ty} {}{scope}{note}", entity.path);
    }
    for export in &lowered.exports {
        let types = export.values.iter().flatten();
        let values: Vec<&str> = types.map(|ty| ty.map_or("object", Type::word)).collect();
        let values = if values.is_empty() || export.sort == Sort::Condition {
            String::new()
        } else {
            format!("({})", values.join(", "))
        };
        let _ = writeln!(told, "  exports {} {}{values}", export.sort.word(), export.name);
    }
    let options = &lowered.options;
    if let Some(timestamp) = &options.timestamp {
        let _ = writeln!(told, "  tells the time every {} ms", timestamp.milliseconds);
    }
    let flags = [
        ("multithread", options.multithread.is_some()),
        ("deltavalue", options.deltavalue.is_some()),
        ("valueabstract", options.valueabstract.is_some()),
    ];
    for (flag, _) in flags.iter().filter(|(_, is_set)| *is_set) {
        let _ = writeln!(told, "  {flag}");
    }
}

fn describe_requirements(told: &mut String, name: &str, lowered: &medl::Lowered) {
    let _ = writeln!(told, "{name}: requirement script{}", titled(lowered.title.as_deref()));
    let imports = lowered.parts.imports();
    for (sort, names) in [("event", &imports.events), ("condition", &imports.conditions)] {
        for name in names {
            let _ = writeln!(told, "  imports {sort} {name}");
        }
    }
    for (sort, all) in
        [("action", &lowered.actions), ("property", &lowered.properties), ("alarm", &lowered.alarms)]
    {
        for (name, _) in all {
            let _ = writeln!(told, "  {sort} {name}");
        }
    }
}

fn titled(title: Option<&str>) -> String {
    title.map_or(String::new(), |title| format!(" {title}"))
}
