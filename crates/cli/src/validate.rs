//! `invigil check -m`: can a model do what a trace says?

use crate::args::{Check, number};
use crate::files::{self, is_standard};
use crate::inputs::Inputs;
use crate::interrupt::Interrupt;
use crate::models::{self, Manner};
use crate::progress::Progress;
use crate::terminal::Terminal;
use crate::{INTERRUPTED, Trouble, UNUSABLE, VIOLATED};
use clap::Args as Options;
use invigil_explore::validate::{self, Binding, Names};
use invigil_expr::diag::nearest;
use invigil_lang::report::render;
use invigil_verify::validation::{Answer, Settings, Validation, validate};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What can be said about a model and the names of a trace.
#[derive(Options)]
#[command(next_help_heading = "With a model")]
pub(crate) struct Validate {
    /// Ask whether this model can do what the trace says: FILE.model or FILE.dve
    #[arg(
        short,
        long,
        value_name = "MODEL",
        conflicts_with_all = ["properties", "functions", "first", "prints", "junit", "sarif"]
    )]
    pub(crate) model: Option<PathBuf>,

    /// A name in the trace, and what it is in the model: an event, an action, a parameter, a variable, or
    /// `before.VARIABLE`; with nothing behind `=`, the field is not read
    #[arg(long, value_name = "NAME=NAME", value_parser = pair, requires = "model")]
    map: Vec<(String, String)>,

    /// Pass over this event of the trace; may contain `*`, as may all names below
    #[arg(long, value_name = "EVENT", requires = "model")]
    ignore: Vec<String>,

    /// Let this event of the trace leave the model where it is
    #[arg(long, value_name = "EVENT", requires = "model")]
    stutter: Vec<String>,

    /// Let this event or action of the model happen without a record; what has no event is always hidden
    #[arg(long, value_name = "EVENT", requires = "model")]
    hidden: Vec<String>,

    /// Only this event or action of the model is logged; all others are hidden
    #[arg(long, value_name = "EVENT", requires = "model")]
    logged: Vec<String>,

    /// The most hidden actions in a row [default: any number]
    #[arg(long, value_name = "N", requires = "model")]
    max_hidden: Option<u32>,

    /// The most configurations in which the model may be at a time
    #[arg(long, value_name = "N", default_value_t = 1_000_000, requires = "model", value_parser = number)]
    max_configurations: usize,

    /// Draw how the configurations of the last events follow each other, for Graphviz; `-` is standard output
    #[arg(long, value_name = "FILE", requires = "model")]
    dot: Option<PathBuf>,

    /// How many events the drawing and the JSON report go back
    #[arg(long, value_name = "N", default_value_t = 10, requires = "model", value_parser = number)]
    last: usize,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (from, to) = text.split_once('=').ok_or("write `NAME_IN_TRACE=NAME_IN_MODEL`")?;
    match from.trim() {
        "" => Err("the name in the trace is missing before `=`".to_owned()),
        from => Ok((from.to_owned(), to.trim().to_owned())),
    }
}

pub(crate) fn run(
    path: &Path,
    args: &Check,
    trace: invigil_trace::Options,
    terminal: &Terminal,
) -> Result<ExitCode, Trouble> {
    let said = &args.validate;
    let dot_taken = said.dot.as_deref().is_some_and(is_standard);
    if dot_taken && args.json {
        return Err(Trouble::new("two things are to go to standard output; name a file for `--dot`"));
    }
    if is_standard(path) && (args.traces.is_empty() || args.traces.iter().any(|trace| is_standard(trace))) {
        return Err(Trouble::new(
            "standard input cannot be both the model and the trace; put one of them into a file",
        ));
    }
    let given = models::load(path, Manner::default(), terminal.errors.colour)?;
    if !given.warnings.is_empty() && !args.quiet {
        terminal.complain(&(render(&given.sources, &given.warnings, terminal.errors.colour) + "\n"));
    }
    let names = Names {
        map: said.map.clone(),
        ignore: said.ignore.clone(),
        stutter: said.stutter.clone(),
        hidden: said.hidden.clone(),
        logged: said.logged.clone(),
    };
    let binding = Binding::new(&given.loaded.model, &names).map_err(|mistakes| {
        let told = mistakes.iter().map(|mistake| {
            let meant = nearest(&mistake.name, mistake.known.iter().map(String::as_str));
            let meant = meant.map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
            format!("{mistake}{meant}")
        });
        Trouble::new(told.collect::<Vec<_>>().join("\n       "))
    })?;
    let interrupt = Interrupt::listen();
    let inputs = Inputs::new(&args.traces, interrupt.clone())?;
    if inputs.are_typed() && !args.quiet {
        terminal.complain("reading events from the terminal, one to a line; Ctrl-D ends them");
    }
    let options = validate::Options {
        longest_hidden: said.max_hidden,
        most_configurations: said.max_configurations,
        remembered: said.last.max(1),
    };
    let shows_progress = terminal.is_watched() && !args.quiet && !inputs.are_typed();
    let mut progress = shows_progress.then(|| Progress::new(inputs.size()));
    let validation = validate(&binding, inputs.open(), &Settings { options, trace }, |events, bytes| {
        if let Some(progress) = &mut progress {
            progress.show(events, bytes, 0);
        }
        !interrupt.is_set()
    });
    if let Some(progress) = &mut progress {
        progress.clear();
    }
    deliver(&validation, args, dot_taken, terminal, interrupt.is_set())
}

fn deliver(
    validation: &Validation,
    args: &Check,
    dot_taken: bool,
    terminal: &Terminal,
    is_interrupted: bool,
) -> Result<ExitCode, Trouble> {
    if args.json {
        terminal.print(&format!("{:#}\n", validation.json()))?;
    } else if !args.quiet && !dot_taken {
        terminal.print(&validation.text(&terminal.style))?;
    }
    if let Some(path) = &args.validate.dot {
        files::write(path, &validation.graph.dot(), terminal)?;
    }
    // A user who broke off knows why there is no answer.
    if !is_interrupted {
        validation.errors().iter().for_each(|error| terminal.error(error));
    }
    Ok(ExitCode::from(match &validation.answer {
        Answer::Impossible(..) => VIOLATED,
        Answer::Possible => 0,
        _ if is_interrupted => INTERRUPTED,
        _ => UNUSABLE,
    }))
}
