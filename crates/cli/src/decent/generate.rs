//! `invigil decent gen-trace` and `gen-spec`: random traces and formulae.

use super::args::{GenSpec, GenTrace};
use super::experiment::create_folder;
use crate::terminal::Terminal;
use crate::{CliError, files};
use invigil_lab::experiment::check_monitorable;
use invigil_lab::generate::{FormulaShape, formula, random, system, trace};
use invigil_lab::inputs::{component_letter, write_observations};
use invigil_ltl::{Budget, Logic};
use std::process::ExitCode;

pub(super) fn traces(args: &GenTrace, terminal: &Terminal) -> Result<ExitCode, CliError> {
    let system = system(args.components, args.propositions).map_err(CliError::new)?;
    let sampler = args.distribution.sampler().map_err(CliError::new)?;
    create_folder(&args.folder)?;
    let mut random = random(args.seed, 0);
    for number in 0..args.runs {
        let run = trace(&system, args.length, &sampler, &mut random);
        for (component, rounds) in run.into_iter().enumerate() {
            let mut text = String::new();
            for mut observations in rounds {
                observations.iter_mut().for_each(|(_, value)| *value ^= args.invert);
                write_observations(&observations, &system, &mut text);
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
    let system = system(args.components, args.propositions).map_err(CliError::new)?;
    let shape = FormulaShape { size: args.size, ..FormulaShape::default() };
    let mut random = random(args.seed, 0);
    let mut formulae = Vec::with_capacity(args.count);
    let mut attempts = 0;
    while formulae.len() < args.count {
        let mut logic = Logic::new(Budget::default());
        attempts += 1;
        let candidate = formula(&mut logic.formulae, &system, &shape, &mut random).map_err(CliError::new)?;
        let Some(candidate) = candidate else {
            return Err(CliError::new(format_args!(
                "found no formula of size {} that mentions all components: give a larger --size",
                args.size
            )));
        };
        if attempts > 1000 * args.count {
            return Err(CliError::new(format_args!(
                "only {} of {} formulae were monitorable after {} attempts: give --any or another --size",
                formulae.len(),
                args.count,
                attempts - 1
            )));
        }
        let text = logic.formulae.show(candidate).to_string();
        if args.any || check_monitorable(&mut logic, &text).is_ok() {
            formulae.push(text);
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
            for (number, formula) in formulae.iter().enumerate() {
                let text = text.replace("%form%", formula);
                files::write(&folder.join(format!("{number}.xml")), &text, terminal)?;
            }
        }
        _ => terminal.print(&formulae.iter().map(|formula| format!("{formula}\n")).collect::<String>())?,
    }
    Ok(ExitCode::SUCCESS)
}
