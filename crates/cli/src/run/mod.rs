//! `invigil run` and `invigil attach`: a live program under properties, with a prompt or with a report.

pub(crate) mod args;
mod batch;
mod console;
mod interactive;
mod model;
mod scripts;
mod signals;
mod subject;
mod workshop;

use crate::files::{self, is_standard};
use crate::terminal::Terminal;
use crate::{INTERRUPTED, Trouble, UNRUNNABLE, UNUSABLE, VIOLATED, models};
use args::{Attach, Run, Watching};
use console::{Restored, Tty};
use invigil_check::report::Style;
use invigil_cockpit::{Bell, Cockpit, Console, Failed, Files, Setting, Voice};
use invigil_session::{Options, Outcome};
pub(crate) use scripts::{Program, Scripts, load as load_scripts};
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::rc::Rc;
pub(crate) use subject::{native, start, streams};
use workshop::Begin;
pub(crate) use workshop::{Shop, read};

pub(crate) fn run(args: &Run, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    if let Some(path) = args.program.first().map(std::path::Path::new).filter(|path| models::is_model(path)) {
        return model::run_model(args, path, terminal);
    }
    check_stdin(&args.watching, args.starting.stdin.is_some())?;
    let commands = commands(&args.watching)?;
    check_scripts(&args.watching)?;
    // Whoever is not asked and has said nothing before steps through no code.
    let steps = asks(&args.watching) || commands.is_some() || !args.watching.scenarios.is_empty();
    let launch = subject::launch(args, steps)?;
    let program = Program { strict: args.watching.strict, ..launch.known(args) };
    let later = args.watching.noticing.later;
    let keeps = launch.can_be_kept();
    watch(&args.watching, commands, Box::new(move || launch.begin(later)), (true, keeps), program, terminal)
}

pub(crate) fn attach(args: &Attach, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    check_scripts(&args.watching)?;
    let commands = commands(&args.watching)?;
    let noticing = &args.watching.noticing;
    let (process, later, probes) = (args.process, noticing.later, noticing.probes()?);
    let is_java = invigil_jvm::is_machine(process);
    let program = Program { strict: args.watching.strict, ..Program::running(process, is_java) };
    let begin = Box::new(move || subject::hold(process, later, probes));
    watch(&args.watching, commands, begin, (false, !is_java), program, terminal)
}

/// Standard input is one thing only: a file that was named `-`, or the program's.
fn check_stdin(args: &Watching, program_has_own: bool) -> Result<(), Trouble> {
    let named = args.properties.iter().chain(&args.scenarios).chain(&args.functions).chain(&args.commands);
    let count = named.filter(|path| is_standard(path)).count();
    if count > 1 {
        return Err(Trouble::new("`-` is given twice, but there is only one standard input"));
    }
    let mut taken = args.properties.iter().chain(&args.scenarios).chain(&args.functions);
    check_taken(taken.any(|path| is_standard(path)), program_has_own)
}

/// The program cannot have a standard input that was read before.
pub(crate) fn check_taken(taken: bool, program_has_own: bool) -> Result<(), Trouble> {
    if taken && !program_has_own {
        return Err(Trouble::new(
            "standard input is the program's; put the property into a file, or give the program a file with `--stdin`",
        ));
    }
    Ok(())
}

/// Scripts come in pairs.
fn check_scripts(args: &Watching) -> Result<(), Trouble> {
    if args.pedl.len() == args.medl.len() {
        return Ok(());
    }
    let (pedl, medl) = (args.pedl.len(), args.medl.len());
    Err(Trouble::new(format_args!(
        "`--pedl` is given {pedl} times and `--medl` {medl} times: they come in pairs"
    )))
}

/// The commands of a file, if there is one.
fn commands(args: &Watching) -> Result<Option<Vec<String>>, Trouble> {
    let Some(path) = &args.commands else { return Ok(None) };
    let text = files::read(path, "file of commands")?;
    Ok(Some(text.lines().map(str::to_owned).collect()))
}

/// A session that is about to be used.
struct Watched<'a> {
    args: &'a Watching,
    cockpit: Cockpit,
    /// What the scenario made of the initial verdicts.
    outcome: Option<Outcome>,
    bell: Bell,
    terminal: &'a Terminal,
    /// How texts are laid out.
    style: Style,
    /// Whether the program is ended when we leave.
    ends: bool,
}

/// Whether there is a prompt.
fn asks(args: &Watching) -> bool {
    !args.batch && !args.json && io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// `ends` says whether the program is ended when we leave, `keeps` whether it can be kept for going back.
fn watch(
    args: &Watching,
    commands: Option<Vec<String>>,
    begin: Begin,
    (ends, keeps): (bool, bool),
    program: Program,
    terminal: &Terminal,
) -> Result<ExitCode, Trouble> {
    let asks = asks(args);
    // A report stays out of the way of what the program prints.
    let style = if asks { terminal.style } else { terminal.errors };
    let bell = Bell::default();
    let restored = listen(&bell);
    let console = restored.0.clone();
    let setting = Setting {
        workshop: Box::new(Shop { begin, colour: terminal.errors.colour, program }),
        files: Files {
            properties: args.properties.clone(),
            functions: args.functions.clone(),
            scenarios: args.scenarios.clone(),
            scripts: args.pedl.iter().cloned().zip(args.medl.iter().cloned()).collect(),
        },
        options: options(args, asks && keeps),
        record: args.record.clone(),
        voice: voice(args, asks, style),
        style,
        bell: bell.clone(),
        console: console.map(|console| Rc::new(console) as Rc<dyn Console>),
        asks,
        attached: !ends,
    };
    let (cockpit, notes, outcome) = Cockpit::open(setting).map_err(|failed| match failed {
        Failed::Input(words) => Trouble::rendered(words),
        Failed::Subject(words) => Trouble { status: UNRUNNABLE, ..Trouble::new(words) },
    })?;
    if !cockpit.loaded().warnings.is_empty() && !args.quiet {
        terminal.complain(&cockpit.loaded().warnings);
    }
    if !args.quiet {
        notes.iter().for_each(|note| terminal.complain(&format!("note: {note}")));
    }
    let mut watched = Watched { args, cockpit, outcome, bell, terminal, style, ends };
    let status =
        if asks { interactive::run(&mut watched, commands) } else { batch::run(&mut watched, commands) };
    leave(&mut watched);
    Ok(ExitCode::from(status))
}

/// Ctrl-C rings the bell from now on. The terminal is as it was when what is given back is dropped.
pub(crate) fn listen(bell: &Bell) -> Restored {
    let console = Tty::take();
    signals::listen(bell, console.clone());
    Restored(console)
}

/// Lets go of the program, or ends it: nothing is left behind.
fn leave(watched: &mut Watched<'_>) {
    let ends = watched.ends;
    let session = watched.cockpit.session();
    let done = if ends { session.kill() } else { session.detach() };
    // The program may be gone in the meantime, which is as well.
    let _ = done;
}

fn options(args: &Watching, goes_back: bool) -> Options {
    // Someone who is asked may want to go back to any event: for that there must be something to go back to.
    let is_watched = !args.properties.is_empty() || !args.medl.is_empty();
    Options {
        max_checkpoints: args.max_checkpoints,
        max_checkpoint_memory: args.max_checkpoint_memory,
        checkpoint_at_start: goes_back && is_watched,
        auto_checkpoint: args.checkpoint_every,
        violations: args.limit,
        ..Options::default()
    }
}

fn voice(args: &Watching, asks: bool, style: Style) -> Voice {
    let out: Rc<dyn Fn(&str)> = match asks {
        // What nobody reads any more is lost, and that is all.
        true => Rc::new(|line| drop(writeln!(io::stdout(), "{line}"))),
        false => Rc::new(|line| drop(writeln!(io::stderr(), "{line}"))),
    };
    Voice { out, properties: asks || args.prints, scenarios: !args.quiet, notes: !args.quiet, style }
}

/// The exit status of a run: a violation is certain, whatever else went wrong.
fn status(violations: u64, interrupted: bool, wrong: bool, broken: bool) -> u8 {
    match (violations, interrupted, wrong, broken) {
        (1.., ..) => VIOLATED,
        (_, true, ..) => INTERRUPTED,
        (_, _, true, _) => UNUSABLE,
        (_, _, _, true) => UNRUNNABLE,
        _ => 0,
    }
}
