//! `invigil decent gen-trace` and `gen-spec`: random traces and formulae.

use super::args::{GenSpec, GenTrace};
use super::experiment::create_folder;
use crate::terminal::Terminal;
use crate::{CliError, files};
use invigil_lab::experiment::verify;
use invigil_lab::generate::{FormulaShape, formula, random, system, trace};
use invigil_lab::inputs::{component_letter, write_observations};
use invigil_ltl::{Budget, Logic};
use std::process::ExitCode;

pub(super) fn traces(args: &GenTrace, terminal: &Terminal) -> Result<ExitCode, CliError> {
    let system = system(args.components, args.observations).map_err(CliError::new)?;
    let values =
        args.distribution.values().ok_or_else(|| CliError::new("invalid parameters of the distribution"))?;
    create_folder(&args.folder)?;
    let mut random = random(args.seed, 0);
    for number in 0..args.runs {
        let run = trace(&system, args.length, &values, &mut random);
        for (component, rounds) in run.into_iter().enumerate() {
            let mut text = String::new();
            for mut seen in rounds {
                seen.iter_mut().for_each(|(_, value)| *value ^= args.invert);
                write_observations(&seen, &system, &mut text);
                text.push('\n');
            }
            files::write(
                &args.folder.join(format!("{number}-{}.trace", component_letter(component))),
                &text,
                terminal,
            )?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn formulae(args: &GenSpec, terminal: &Terminal) -> Result<ExitCode, CliError> {
    let system = system(args.components, args.observations).map_err(CliError::new)?;
    let shape = FormulaShape { size: args.size, ..FormulaShape::default() };
    let mut random = random(args.seed, 0);
    let mut made = Vec::with_capacity(args.count);
    let mut attempts = 0;
    while made.len() < args.count {
        let mut logic = Logic::new(Budget::default());
        attempts += 1;
        let drawn = formula(&mut logic.formulae, &system, &shape, &mut random).map_err(CliError::new)?;
        let Some(drawn) = drawn.filter(|_| attempts <= 1000 * args.count) else {
            return Err(CliError::new(format_args!(
                "no formula of size {} mentions all components; give a larger --size",
                args.size
            )));
        };
        let text = logic.formulae.show(drawn).to_string();
        if args.any || verify(&mut logic, &text).is_ok() {
            made.push(text);
        }
    }
    match (&args.template, &args.folder) {
        (Some(template), Some(folder)) => {
            let text = files::read(template, "template")?;
            if !text.contains("%form%") {
                return Err(CliError::new(format_args!(
                    "{}: the template has no placeholder `%form%` for the formula",
                    template.display()
                )));
            }
            create_folder(folder)?;
            for (number, formula) in made.iter().enumerate() {
                let text = text.replace("%form%", formula);
                files::write(&folder.join(format!("{number}.xml")), &text, terminal)?;
            }
        }
        _ => terminal.print(&made.iter().map(|formula| format!("{formula}\n")).collect::<String>())?,
    }
    Ok(ExitCode::SUCCESS)
}
