//! `invigil check -m`: is a trace an execution of a model?

use crate::args::{Check, parse_count};
use crate::files::{self, is_standard};
use crate::inputs::TraceInputs;
use crate::interrupt::InterruptFlag;
use crate::models::{self, ModelOptions};
use crate::progress::Progress;
use crate::terminal::Terminal;
use crate::{CliError, INTERRUPTED, INVALID_INPUT, VIOLATED};
use clap::Args as Options;
use invigil_explore::trace_validation::{self, Binding, NameMapping};
use invigil_expr::diag::nearest;
use invigil_lang::report::render;
use invigil_verify::validation::{ValidationReport, ValidationResult, ValidationSettings, validate_trace};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Options for validating a trace against a model.
#[derive(Options)]
#[command(next_help_heading = "Options for validation against a model")]
pub(crate) struct ValidateArgs {
    /// Check whether the trace is an execution of this model: FILE.model or FILE.dve
    #[arg(
        short,
        long,
        value_name = "MODEL",
        conflicts_with_all = ["properties", "functions", "first", "prints", "junit", "sarif"]
    )]
    pub(crate) model: Option<PathBuf>,

    /// Map a name in the trace to a name in the model: an event, an action, a parameter, a variable, or
    /// `before.VARIABLE`; with nothing after `=`, the field is ignored
    #[arg(long, value_name = "NAME=NAME", value_parser = parse_mapping, requires = "model")]
    map: Vec<(String, String)>,

    /// Skip this event of the trace; this name and those below may contain `*`
    #[arg(long, value_name = "EVENT", requires = "model")]
    ignore: Vec<String>,

    /// Let this event of the trace leave the model's configuration unchanged
    #[arg(long, value_name = "EVENT", requires = "model")]
    stutter: Vec<String>,

    /// Allow this event or action of the model to occur without a record; actions without an event are always hidden
    #[arg(long, value_name = "EVENT", requires = "model")]
    hidden: Vec<String>,

    /// Expect a record only for this event or action of the model; all others are hidden
    #[arg(long, value_name = "EVENT", requires = "model")]
    logged: Vec<String>,

    /// Maximum number of consecutive hidden actions [default: unlimited]
    #[arg(long, value_name = "N", requires = "model")]
    max_hidden: Option<u32>,

    /// Maximum number of simultaneously possible configurations
    #[arg(long, value_name = "N", default_value_t = 1_000_000, requires = "model", value_parser = parse_count)]
    max_configurations: usize,

    /// Write the configurations of the last events as a Graphviz graph; `-` is standard output
    #[arg(long, value_name = "FILE", requires = "model")]
    dot: Option<PathBuf>,

    /// Number of last events in the graph and in the JSON report
    #[arg(long, value_name = "N", default_value_t = 10, requires = "model", value_parser = parse_count)]
    last: usize,
}

fn parse_mapping(text: &str) -> Result<(String, String), String> {
    let (from, to) = text.split_once('=').ok_or("expected `NAME_IN_TRACE=NAME_IN_MODEL`")?;
    match from.trim() {
        "" => Err("the name in the trace is missing before `=`".to_owned()),
        from => Ok((from.to_owned(), to.trim().to_owned())),
    }
}

pub(crate) fn run(
    path: &Path,
    args: &Check,
    trace: invigil_trace::ReadOptions,
    terminal: &Terminal,
) -> Result<ExitCode, CliError> {
    let validate = &args.validate;
    let is_dot_to_stdout = validate.dot.as_deref().is_some_and(is_standard);
    if is_dot_to_stdout && args.json {
        return Err(CliError::new(
            "only one report can be written to standard output; name a file for `--dot`",
        ));
    }
    if is_standard(path) && (args.traces.is_empty() || args.traces.iter().any(|trace| is_standard(trace))) {
        return Err(CliError::new(
            "standard input cannot be both the model and the trace; put one of them in a file",
        ));
    }
    let loaded_model = models::load(path, ModelOptions::default(), terminal.errors.colour)?;
    if !loaded_model.warnings.is_empty() && !args.quiet {
        terminal
            .eprint(&(render(&loaded_model.sources, &loaded_model.warnings, terminal.errors.colour) + "\n"));
    }
    let names = NameMapping {
        map: validate.map.clone(),
        ignore: validate.ignore.clone(),
        stutter: validate.stutter.clone(),
        hidden: validate.hidden.clone(),
        logged: validate.logged.clone(),
    };
    let binding = Binding::new(&loaded_model.file.model, &names).map_err(|errors| {
        let messages = errors.iter().map(|error| {
            let meant = nearest(&error.name, error.known.iter().map(String::as_str));
            let meant = meant.map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
            format!("{error}{meant}")
        });
        CliError::new(messages.collect::<Vec<_>>().join("\n       "))
    })?;
    let interrupt = InterruptFlag::install();
    let inputs = TraceInputs::new(&args.traces, interrupt.clone())?;
    if inputs.are_interactive() && !args.quiet {
        terminal.eprint("reading events from the terminal, one per line; end with Ctrl-D");
    }
    let options = trace_validation::ValidationOptions {
        max_hidden_steps: validate.max_hidden,
        max_configurations: validate.max_configurations,
        history_length: validate.last.max(1),
    };
    let shows_progress = terminal.is_stderr_terminal() && !args.quiet && !inputs.are_interactive();
    let mut progress = shows_progress.then(|| Progress::new(inputs.size()));
    let validation =
        validate_trace(&binding, inputs.open(), &ValidationSettings { options, trace }, |events, bytes| {
            if let Some(progress) = &mut progress {
                progress.show(events, bytes, 0);
            }
            !interrupt.is_set()
        });
    if let Some(progress) = &mut progress {
        progress.clear();
    }
    write_reports(&validation, args, is_dot_to_stdout, terminal, interrupt.is_set())
}

fn write_reports(
    validation: &ValidationReport,
    args: &Check,
    is_dot_to_stdout: bool,
    terminal: &Terminal,
    is_interrupted: bool,
) -> Result<ExitCode, CliError> {
    if args.json {
        terminal.print(&format!("{:#}\n", validation.json()))?;
    } else if !args.quiet && !is_dot_to_stdout {
        terminal.print(&validation.text(&terminal.style))?;
    }
    if let Some(path) = &args.validate.dot {
        files::write(path, &validation.graph.dot(), terminal)?;
    }
    // After Ctrl-C the user knows why there is no result.
    if !is_interrupted {
        validation.errors().iter().for_each(|error| terminal.error(error));
    }
    Ok(ExitCode::from(match &validation.result {
        ValidationResult::Impossible(..) => VIOLATED,
        ValidationResult::Possible => 0,
        _ if is_interrupted => INTERRUPTED,
        _ => INVALID_INPUT,
    }))
}
