//! `invigil mac compile`: checks scripts and writes the files for the stages.

use super::args::Compile;
use super::scripts::ScriptSet;
use crate::CliError;
use crate::files;
use crate::terminal::Terminal;
use invigil_lang::medl;
use invigil_lang::pedl::{self, ast::ExportKind};
use invigil_mac::instrumentation_plan;
use invigil_monitor::mac::{Abstraction, Type};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(super) fn run(args: &Compile, terminal: &Terminal) -> Result<ExitCode, CliError> {
    let scripts_of = |is_medl: bool| {
        let has_medl_extension = |path: &&PathBuf| path.extension().is_some_and(|ending| ending == "medl");
        args.scripts.iter().filter(move |path| has_medl_extension(path) == is_medl)
    };
    if scripts_of(true).count() > 1 || scripts_of(false).count() > 1 {
        return Err(CliError::new(
            "give one monitoring script (.pedl) and one requirement script (.medl), or one of them",
        ));
    }
    let mut scripts = ScriptSet::new();
    let mut monitoring = None;
    for path in scripts_of(false) {
        monitoring = scripts.monitoring(path, &args.program.constants)?;
    }
    let exports = monitoring.as_ref().map(|(_, lowered)| lowered.exports.as_slice());
    let mut requirements = None;
    for path in scripts_of(true) {
        // The exports are unknown if the monitoring script has errors.
        requirements = scripts.requirements(path, exports)?;
    }
    scripts.report(false, terminal)?;
    std::fs::create_dir_all(&args.output).map_err(|error| {
        CliError::new(format_args!("{}: cannot create the directory: {error}", args.output.display()))
    })?;
    let mut text = String::new();
    let write = |name: &str, ending: &str, content: &str, text: &mut String| {
        let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let path = args.output.join(format!("{stem}.{ending}.json"));
        files::write(&path, content, terminal)?;
        // Writing to a string does not fail.
        let _ = writeln!(text, "  written: {}", path.display());
        Ok::<(), CliError>(())
    };
    if let Some((compiled, lowered)) = &monitoring {
        describe_monitoring(&mut text, &compiled.name, lowered);
        write(&compiled.name, "recogniser", &compiled.to_json(), &mut text)?;
        write(&compiled.name, "instrumentation", &instrumentation_plan(lowered), &mut text)?;
    }
    if let Some((compiled, lowered)) = &requirements {
        describe_requirements(&mut text, &compiled.name, lowered);
        write(&compiled.name, "checker", &compiled.to_json(), &mut text)?;
    }
    terminal.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn describe_monitoring(text: &mut String, name: &str, lowered: &pedl::MonitoringScript) {
    let _ = writeln!(text, "{name}: monitoring script{}", titled(lowered.title.as_deref()));
    let abstractions = lowered.parts.abstractions();
    for entity in &lowered.entities {
        let ty = entity.ty.as_ref().map_or("void".to_owned(), ToString::to_string);
        let scope = entity.scope.as_ref().map_or(String::new(), |scope| {
            format!(", only {}in {}", if scope.is_negated { "not " } else { "" }, scope.path)
        });
        let note = match entity.id {
            _ if entity.is_constant => ", a constant".to_owned(),
            pedl::EntityId::Variable(variable) if lowered.options.valueabstract.is_some() => {
                match abstractions.get(variable.0 as usize) {
                    Some(Abstraction::Thresholds(all)) => {
                        format!(", sent when one of {} comparisons changes", all.len())
                    }
                    _ => ", every value sent".to_owned(),
                }
            }
            _ => String::new(),
        };
        let _ = writeln!(text, "  watches {ty} {}{scope}{note}", entity.path);
    }
    for export in &lowered.exports {
        let types = export.values.iter().flatten();
        let values: Vec<&str> = types.map(|ty| ty.map_or("object", Type::word)).collect();
        let values = if values.is_empty() || export.kind == ExportKind::Condition {
            String::new()
        } else {
            format!("({})", values.join(", "))
        };
        let _ = writeln!(text, "  exports {} {}{values}", export.kind.word(), export.name);
    }
    let options = &lowered.options;
    if let Some(timestamp) = &options.timestamp {
        let _ = writeln!(text, "  sends the time every {} ms", timestamp.milliseconds);
    }
    let flags = [
        ("multithread", options.multithread.is_some()),
        ("deltavalue", options.deltavalue.is_some()),
        ("valueabstract", options.valueabstract.is_some()),
    ];
    for (flag, _) in flags.iter().filter(|(_, is_set)| *is_set) {
        let _ = writeln!(text, "  {flag}");
    }
}

fn describe_requirements(text: &mut String, name: &str, lowered: &medl::RequirementScript) {
    let _ = writeln!(text, "{name}: requirement script{}", titled(lowered.title.as_deref()));
    let imports = lowered.parts.imports();
    for (sort, names) in [("event", &imports.events), ("condition", &imports.conditions)] {
        for name in names {
            let _ = writeln!(text, "  imports {sort} {name}");
        }
    }
    for (sort, all) in
        [("action", &lowered.actions), ("property", &lowered.properties), ("alarm", &lowered.alarms)]
    {
        for (name, _) in all {
            let _ = writeln!(text, "  {sort} {name}");
        }
    }
}

fn titled(title: Option<&str>) -> String {
    title.map_or(String::new(), |title| format!(" {title}"))
}
