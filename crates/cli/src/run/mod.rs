//! `invigil run` and `invigil attach`: monitors a live program, with a prompt or a final report.

pub(crate) mod args;
mod batch;
mod console;
mod interactive;
mod model;
mod scripts;
mod session_factory;
mod signals;
mod target;

use crate::files::{self, is_standard};
use crate::terminal::Terminal;
use crate::{CliError, INTERRUPTED, INVALID_INPUT, SUBJECT_FAILED, VIOLATED, models};
use args::{Attach, MonitorArgs, Run};
use clap::CommandFactory;
use console::{TerminalGuard, Tty};
use invigil_check::report::Style;
use invigil_cockpit::{Console, Files, InterruptHandle, LiveDebugger, MessageSink, OpenError, SessionConfig};
use invigil_session::{RunOutcome, SessionOptions};
pub(crate) use scripts::{LoadedScripts, ProgramInfo, load as load_scripts};
use session_factory::StartTarget;
pub(crate) use session_factory::{FileSessionFactory, load_files};
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::rc::Rc;
pub(crate) use target::{native_launch, start, streams};

pub(crate) fn run(args: &Run, terminal: &Terminal) -> Result<ExitCode, CliError> {
    if args.help_models {
        let help = args::model_help(crate::args::Args::command()).render();
        terminal.print(&if terminal.style.colour { help.ansi().to_string() } else { help.to_string() })?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(path) = args.program.first().map(std::path::Path::new).filter(|path| models::is_model(path)) {
        return model::run_model(args, path, terminal);
    }
    check_stdin(&args.monitor, args.launch.stdin.is_some())?;
    let commands = commands(&args.monitor)?;
    check_scripts(&args.monitor)?;
    // Without a prompt, commands and scenarios nothing can step, and a Java VM is faster without support for it.
    let steps = is_interactive(&args.monitor) || commands.is_some() || !args.monitor.scenarios.is_empty();
    let launch = target::launch(args, steps)?;
    let program =
        ProgramInfo { undefined_violates: args.monitor.undefined_violates, ..launch.program_info(args) };
    let later = args.monitor.probing.later;
    let has_checkpoints = launch.supports_checkpoints();
    run_session(
        &args.monitor,
        commands,
        Box::new(move || launch.start(later)),
        (true, has_checkpoints),
        program,
        terminal,
    )
}

pub(crate) fn attach(args: &Attach, terminal: &Terminal) -> Result<ExitCode, CliError> {
    check_scripts(&args.monitor)?;
    let commands = commands(&args.monitor)?;
    let probing = &args.monitor.probing;
    let (process, later, probes) = (args.process, probing.later, probing.probes()?);
    let is_java = invigil_jvm::is_java_vm(process);
    let program = ProgramInfo {
        undefined_violates: args.monitor.undefined_violates,
        ..ProgramInfo::of_process(process, is_java)
    };
    let start = Box::new(move || target::attach(process, later, probes));
    run_session(&args.monitor, commands, start, (false, !is_java), program, terminal)
}

/// Rejects a second use of standard input: it is either one file named `-` or the program's.
fn check_stdin(args: &MonitorArgs, program_has_own: bool) -> Result<(), CliError> {
    let named = args.properties.iter().chain(&args.scenarios).chain(&args.functions).chain(&args.commands);
    let count = named.filter(|path| is_standard(path)).count();
    if count > 1 {
        return Err(CliError::new("`-` is specified twice, but there is only one standard input"));
    }
    let mut taken = args.properties.iter().chain(&args.scenarios).chain(&args.functions);
    check_stdin_is_free(taken.any(|path| is_standard(path)), program_has_own)
}

/// Rejects a program that would inherit a standard input that has been read already.
pub(crate) fn check_stdin_is_free(taken: bool, program_has_own: bool) -> Result<(), CliError> {
    if taken && !program_has_own {
        return Err(CliError::new(
            "standard input belongs to the program; put the property in a file, or redirect the program's input with `--stdin`",
        ));
    }
    Ok(())
}

/// Checks that monitoring and requirement scripts are paired.
fn check_scripts(args: &MonitorArgs) -> Result<(), CliError> {
    if args.pedl.len() == args.medl.len() {
        return Ok(());
    }
    let (pedl, medl) = (args.pedl.len(), args.medl.len());
    Err(CliError::new(format_args!(
        "`--pedl` is given {pedl} times and `--medl` {medl} times: they must be paired"
    )))
}

/// Reads the file of `--commands`, if given.
fn commands(args: &MonitorArgs) -> Result<Option<Vec<String>>, CliError> {
    let Some(path) = &args.commands else { return Ok(None) };
    let text = files::read(path, "file of commands")?;
    Ok(Some(text.lines().map(str::to_owned).collect()))
}

/// A started session with its options and output.
struct RunningSession<'a> {
    args: &'a MonitorArgs,
    debugger: LiveDebugger,
    /// Outcome of the scenarios' reactions to the initial verdicts.
    outcome: Option<RunOutcome>,
    interrupt: InterruptHandle,
    terminal: &'a Terminal,
    /// Layout of texts.
    style: Style,
    /// Whether leaving the session terminates the program.
    terminates_program: bool,
}

/// Whether a prompt is used.
fn is_interactive(args: &MonitorArgs) -> bool {
    !args.batch && !args.json && io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Runs a session. `terminates_program` specifies whether leaving the session terminates the program,
/// `has_checkpoints` whether checkpoints of it are possible.
fn run_session(
    args: &MonitorArgs,
    commands: Option<Vec<String>>,
    start: StartTarget,
    (terminates_program, has_checkpoints): (bool, bool),
    program: ProgramInfo,
    terminal: &Terminal,
) -> Result<ExitCode, CliError> {
    let is_interactive = is_interactive(args);
    // Reports go to standard error, apart from the program's output.
    let style = if is_interactive { terminal.style } else { terminal.errors };
    let interrupt = InterruptHandle::default();
    let terminal_guard = install_signal_handlers(&interrupt);
    let console = terminal_guard.0.clone();
    let config = SessionConfig {
        factory: Box::new(FileSessionFactory { start, colour: terminal.errors.colour, program }),
        files: Files {
            properties: args.properties.clone(),
            functions: args.functions.clone(),
            scenarios: args.scenarios.clone(),
            scripts: args.pedl.iter().cloned().zip(args.medl.iter().cloned()).collect(),
        },
        options: options(args, is_interactive && has_checkpoints),
        record: args.record.clone(),
        messages: message_sink(args, is_interactive, style),
        style,
        interrupt: interrupt.clone(),
        console: console.map(|console| Rc::new(console) as Rc<dyn Console>),
        asks_for_confirmation: is_interactive,
        attached: !terminates_program,
    };
    let (debugger, notes, outcome) = LiveDebugger::open(config).map_err(|failed| match failed {
        OpenError::Input(message) => CliError::rendered(message),
        OpenError::Target(message) => CliError { status: SUBJECT_FAILED, ..CliError::new(message) },
    })?;
    if !debugger.loaded().warnings.is_empty() && !args.quiet {
        terminal.eprint(&debugger.loaded().warnings);
    }
    if !args.quiet {
        notes.iter().for_each(|note| terminal.eprint(&format!("note: {note}")));
    }
    let mut running =
        RunningSession { args, debugger, outcome, interrupt, terminal, style, terminates_program };
    let status = if is_interactive {
        interactive::run(&mut running, commands)
    } else {
        batch::run(&mut running, commands)
    };
    leave(&mut running);
    Ok(ExitCode::from(status))
}

/// Connects Ctrl-C and other signals to the interrupt handle. Dropping the guard restores the terminal.
pub(crate) fn install_signal_handlers(interrupt: &InterruptHandle) -> TerminalGuard {
    let console = Tty::take();
    signals::install(interrupt, console.clone());
    TerminalGuard(console)
}

/// Terminates the program or detaches from it. No instrumentation is left behind.
fn leave(running: &mut RunningSession<'_>) {
    let session = running.debugger.session();
    let result = if running.terminates_program { session.kill() } else { session.detach() };
    // An error is harmless: the program may have exited in the meantime.
    let _ = result;
}

fn options(args: &MonitorArgs, checkpoint_at_start: bool) -> SessionOptions {
    // At a prompt the user may go back to any event, for which a checkpoint before it is needed.
    let has_properties = !args.properties.is_empty() || !args.medl.is_empty();
    SessionOptions {
        max_checkpoints: args.max_checkpoints,
        max_checkpoint_memory: args.max_checkpoint_memory,
        checkpoint_at_start: checkpoint_at_start && has_properties,
        auto_checkpoint: args.checkpoint_every,
        max_violations: args.limit,
        ..SessionOptions::default()
    }
}

fn message_sink(args: &MonitorArgs, is_interactive: bool, style: Style) -> MessageSink {
    let out: Rc<dyn Fn(&str)> = match is_interactive {
        // A closed pipe is not an error.
        true => Rc::new(|line| drop(writeln!(io::stdout(), "{line}"))),
        false => Rc::new(|line| drop(writeln!(io::stderr(), "{line}"))),
    };
    MessageSink {
        out,
        properties: is_interactive || args.prints,
        scenarios: !args.quiet,
        notes: !args.quiet,
        style,
    }
}

/// The exit status of a run. A violation takes precedence over all errors.
fn status(violations: u64, interrupted: bool, has_errors: bool, is_broken: bool) -> u8 {
    match (violations, interrupted, has_errors, is_broken) {
        (1.., ..) => VIOLATED,
        (_, true, ..) => INTERRUPTED,
        (_, _, true, _) => INVALID_INPUT,
        (_, _, _, true) => SUBJECT_FAILED,
        _ => 0,
    }
}
