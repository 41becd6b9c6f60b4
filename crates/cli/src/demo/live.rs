//! The demo on the live program.

use super::{PROGRAM, PROPERTY, unexpected_result};
use crate::CliError;
use crate::run::{FileSessionFactory, ProgramInfo, start};
use crate::terminal::Terminal;
use invigil_check::report::Paint;
use invigil_cockpit::prompt::PROMPT;
use invigil_cockpit::{Files, InterruptHandle, LiveDebugger, MessageSink, OpenError, SessionConfig};
use invigil_native::{Launch, Stream};
use invigil_session::SessionOptions;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use tempfile::TempDir;

/// A paragraph of the narration, the prompt commands after it, and text that their output must contain.
struct DemoStep {
    narration: &'static str,
    commands: &'static [&'static str],
    shows: &'static [&'static str],
}

/// The first command. At a prompt, `invigil run` starts with `continue`.
const START: &str = "$ invigil run -p queue.prop -- ./faulty";

const STEPS: [DemoStep; 6] = [
    DemoStep {
        narration: "The program runs under the property until a violation.",
        commands: &[START],
        shows: &["queue_ready → sink", "event      18", "N = 16, maxSize = 16", "queue_push (queue="],
    },
    DemoStep {
        narration: "It is stopped just before the 17th push, of the `i` in `is`: the queue already has
N = 16 elements, and the program does not check whether it is full. Look at the
callers and at the contents of the queue.",
        commands: &["where", "print queue->consonants", "print queue->vowels"],
        shows: &["#1 queue_push_str", "#2 main", "\"hnstbg\"", "\"oaayu\""],
    },
    DemoStep {
        narration: "No memory is corrupted yet. Take a checkpoint and let the program continue.",
        commands: &["checkpoint", "continue"],
        shows: &["Checkpoint 1", "vowels: raayuiee", "exited with status 0"],
    },
    DemoStep {
        narration: "The wrong `r` is in the output. Restore the checkpoint and set a watchpoint where
it appears.",
        commands: &["restore 1", "watch queue->vowels[0]", "continue"],
        shows: &["Back at checkpoint 1", "queue->vowels[0] = 114 'r'"],
    },
    DemoStep {
        narration: "The `r` was written past the end of the array `consonants` and overwrote the first
vowel. To confirm this, restore the checkpoint again, make room in the queue, and
continue.",
        commands: &["restore 1", "delete", "set queue->consonant_count = 0", "continue"],
        shows: &["vowels: oaayuiee", "exited with status 0"],
    },
    DemoStep {
        narration: "With room in the queue, the vowels are correct: `oaayuiee`. The bug is the missing
check of the capacity, and the property detected it before memory was corrupted.",
        commands: &[],
        shows: &[],
    },
];

/// Result of the live demo.
pub(super) enum DemoOutcome {
    Done,
    /// Programs cannot be traced here; the reason.
    Unavailable(String),
}

/// Compiles the program and runs the steps.
pub(super) fn play(terminal: &Terminal) -> Result<DemoOutcome, CliError> {
    let folder = TempDir::new()
        .map_err(|error| CliError::new(format_args!("cannot make a temporary directory: {error}")))?;
    let program = compile(folder.path())?;
    let output = folder.path().join("output");
    let (mut debugger, ..) = match LiveDebugger::open(config(folder.path(), &program, &output, terminal)?) {
        Ok(opened) => opened,
        Err(OpenError::Target(why)) => return Ok(DemoOutcome::Unavailable(why)),
        Err(OpenError::Input(message)) => return Err(CliError::rendered(message)),
    };
    let result = STEPS.iter().try_for_each(|step| run_step(step, &mut debugger, &output, terminal));
    // An error is harmless: the program may have exited.
    let _ = debugger.session().kill();
    result.map(|()| DemoOutcome::Done)
}

fn run_step(
    step: &DemoStep,
    debugger: &mut LiveDebugger,
    output: &Path,
    terminal: &Terminal,
) -> Result<(), CliError> {
    terminal.print(&format!("{}\n\n", step.narration))?;
    let mut shown = String::new();
    for command in step.commands {
        let prompt = terminal.style.paint(Paint::Title, PROMPT);
        let (echo, command) = match *command {
            START => (format!("{START}\n\n"), "continue"),
            command => (format!("{prompt}{command}\n"), command),
        };
        shown += &echo;
        let response = debugger.run(command).unwrap_or_else(|error| format!("{error}\n"));
        shown += &printed(output)?;
        // Limitations of the checkpoint are hidden: the demo truncates the output file itself.
        let lines = response.lines().filter(|line| !plain(line).trim_start().starts_with("limitation:"));
        shown.extend(lines.map(|line| format!("{line}\n")));
    }
    if !shown.is_empty() {
        terminal.print(&(shown.clone() + "\n"))?;
    }
    let plain = plain(&shown);
    if step.shows.iter().all(|part| plain.contains(part)) { Ok(()) } else { Err(unexpected_result()) }
}

/// A text without its colours.
fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// Takes the output that the program has printed since the last call.
fn printed(output: &Path) -> Result<String, CliError> {
    let take = || {
        let text = fs::read_to_string(output)?;
        File::options().write(true).truncate(true).open(output)?;
        io::Result::Ok(text)
    };
    take().map_err(|error| CliError::new(format_args!("cannot read the program's output: {error}")))
}

/// Compiles the program, with macros in the debug information: one of them is the capacity of the queue.
fn compile(folder: &Path) -> Result<PathBuf, CliError> {
    let failed = |error: io::Error| CliError::new(format_args!("{}: {error}", folder.display()));
    fs::write(folder.join("faulty.c"), PROGRAM).map_err(failed)?;
    fs::write(folder.join("queue.prop"), PROPERTY).map_err(failed)?;
    let done =
        Command::new("cc").args(["-g3", "-O0", "-o", "faulty", "faulty.c"]).current_dir(folder).output();
    match done {
        Ok(done) if done.status.success() => Ok(folder.join("faulty")),
        Ok(done) => Err(CliError::new(format_args!(
            "the C compiler cannot compile the program of the demo:\n{}",
            String::from_utf8_lossy(&done.stderr).trim_end()
        ))),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(CliError::new(
            "the demo needs a C compiler, but `cc` was not found; install gcc (on Debian: `apt-get install gcc libc6-dev`)",
        )),
        Err(error) => Err(CliError::new(format_args!("cannot run the C compiler `cc`: {error}"))),
    }
}

fn config(
    folder: &Path,
    program: &Path,
    output: &Path,
    terminal: &Terminal,
) -> Result<SessionConfig, CliError> {
    let failed = |error: io::Error| CliError::new(format_args!("{}: {error}", output.display()));
    let mut launch = Launch::new(program);
    launch.stdin = Stream::Null;
    // In append mode, because the file is truncated between steps while the target keeps its offset.
    launch.stdout =
        Stream::File(File::options().create(true).append(true).open(output).map_err(failed)?.into());
    Ok(SessionConfig {
        factory: Box::new(FileSessionFactory {
            start: Box::new(move || start(&launch, false)),
            colour: terminal.errors.colour,
            program: ProgramInfo::default(),
        }),
        files: Files { properties: vec![folder.join("queue.prop")], ..Files::default() },
        options: SessionOptions::default(),
        record: None,
        messages: MessageSink {
            out: Rc::new(|_| {}),
            properties: false,
            scenarios: false,
            notes: false,
            style: terminal.style,
        },
        style: terminal.style,
        interrupt: InterruptHandle::default(),
        console: None,
        asks_for_confirmation: false,
        attached: false,
    })
}
