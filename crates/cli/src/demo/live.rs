//! The story on the running program.

use super::{PROGRAM, PROPERTY, not_as_told};
use crate::Trouble;
use crate::run::{Program, Shop, start};
use crate::terminal::Terminal;
use invigil_check::report::Paint;
use invigil_cockpit::prompt::PROMPT;
use invigil_cockpit::{Bell, Cockpit, Failed, Files, Setting, Voice};
use invigil_native::{Launch, Stream};
use invigil_session::Options;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use tempfile::TempDir;

/// A sentence, commands of the prompt, and what they must show for the sentence to be true.
struct Scene {
    words: &'static str,
    commands: &'static [&'static str],
    shows: &'static [&'static str],
}

/// The command with which the story begins: at a prompt the program runs by itself at first.
const BEGIN: &str = "$ invigil run -p queue.prop -- ./faulty";

const SCENES: [Scene; 6] = [
    Scene {
        words: "The program runs under the property until that is violated.",
        commands: &[BEGIN],
        shows: &["queue_ready → sink", "event      18", "N = 16, maxSize = 16", "queue_push (queue="],
    },
    Scene {
        words: "It stands still before the 17th push, of the `i` in `is`: N = 16 elements are in
the queue, and nobody looks whether there is room. Who calls, and with what?",
        commands: &["where", "print queue->consonants", "print queue->vowels"],
        shows: &["#1 queue_push_str", "#2 main", "\"hnstbg\"", "\"oaayu\""],
    },
    Scene {
        words: "So far nothing is spoilt. Keep this moment, and let the program run on.",
        commands: &["checkpoint", "continue"],
        shows: &["Checkpoint 1", "vowels: raayuiee", "exited with status 0"],
    },
    Scene {
        words: "The strange `r` is there. Back to the moment that was kept, and watch the place
where it turns up.",
        commands: &["restore 1", "watch queue->vowels[0]", "continue"],
        shows: &["Back at checkpoint 1", "queue->vowels[0] = 114 'r'"],
    },
    Scene {
        words: "The `r` is a consonant too many: it went over the end of `consonants`, onto the
first vowel. To be sure, go back once more, make room, and see what happens.",
        commands: &["restore 1", "delete", "set queue->consonant_count = 0", "continue"],
        shows: &["vowels: oaayuiee", "exited with status 0"],
    },
    Scene {
        words: "With room in the queue the vowels are right: `oaayuiee`. The bug is that nobody
checks the limit, and the property has said so before any harm was done.",
        commands: &[],
        shows: &[],
    },
];

/// Whether there was a story.
pub(super) enum Told {
    Done,
    /// Programs cannot be watched here, and why.
    Impossible(String),
}

/// Compiles the program, runs it and tells what is seen.
pub(super) fn tell(terminal: &Terminal) -> Result<Told, Trouble> {
    let folder = TempDir::new()
        .map_err(|error| Trouble::new(format_args!("cannot make a temporary directory: {error}")))?;
    let program = compile(folder.path())?;
    let said = folder.path().join("output");
    let (mut cockpit, ..) = match Cockpit::open(setting(folder.path(), &program, &said, terminal)?) {
        Ok(opened) => opened,
        Err(Failed::Subject(why)) => return Ok(Told::Impossible(why)),
        Err(Failed::Input(words)) => return Err(Trouble::rendered(words)),
    };
    let told = SCENES.iter().try_for_each(|scene| play(scene, &mut cockpit, &said, terminal));
    // The program may be gone already, which is as well.
    let _ = cockpit.session().kill();
    told.map(|()| Told::Done)
}

fn play(scene: &Scene, cockpit: &mut Cockpit, said: &Path, terminal: &Terminal) -> Result<(), Trouble> {
    terminal.print(&format!("{}\n\n", scene.words))?;
    let mut shown = String::new();
    for command in scene.commands {
        let prompt = terminal.style.paint(Paint::Title, PROMPT);
        let (echo, command) = match *command {
            BEGIN => (format!("{BEGIN}\n\n"), "continue"),
            command => (format!("{prompt}{command}\n"), command),
        };
        shown += &echo;
        let words = cockpit.run(command).unwrap_or_else(|words| format!("{words}\n"));
        shown += &printed(said)?;
        // How the demonstration is made is of no interest: that its output is not brought back is meant.
        let told = words.lines().filter(|line| !plain(line).trim_start().starts_with("limit:"));
        shown.extend(told.map(|line| format!("{line}\n")));
    }
    if !shown.is_empty() {
        terminal.print(&(shown.clone() + "\n"))?;
    }
    let plain = plain(&shown);
    if scene.shows.iter().all(|part| plain.contains(part)) { Ok(()) } else { Err(not_as_told()) }
}

/// A text without its colours.
fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// What the program has printed since this was asked last.
fn printed(said: &Path) -> Result<String, Trouble> {
    let take = || {
        let text = fs::read_to_string(said)?;
        File::options().write(true).truncate(true).open(said)?;
        io::Result::Ok(text)
    };
    take().map_err(|error| Trouble::new(format_args!("cannot read what the program has printed: {error}")))
}

/// The program's file. Macros are wanted too: one of them is the size of the queue.
fn compile(folder: &Path) -> Result<PathBuf, Trouble> {
    let failed = |error: io::Error| Trouble::new(format_args!("{}: {error}", folder.display()));
    fs::write(folder.join("faulty.c"), PROGRAM).map_err(failed)?;
    fs::write(folder.join("queue.prop"), PROPERTY).map_err(failed)?;
    let done =
        Command::new("cc").args(["-g3", "-O0", "-o", "faulty", "faulty.c"]).current_dir(folder).output();
    match done {
        Ok(done) if done.status.success() => Ok(folder.join("faulty")),
        Ok(done) => Err(Trouble::new(format_args!(
            "the C compiler cannot compile the program of the demonstration:\n{}",
            String::from_utf8_lossy(&done.stderr).trim_end()
        ))),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(Trouble::new(
            "the demonstration needs a C compiler, and there is no `cc`: install gcc (on Debian, `apt-get install gcc libc6-dev`)",
        )),
        Err(error) => Err(Trouble::new(format_args!("cannot run the C compiler `cc`: {error}"))),
    }
}

fn setting(folder: &Path, program: &Path, said: &Path, terminal: &Terminal) -> Result<Setting, Trouble> {
    let failed = |error: io::Error| Trouble::new(format_args!("{}: {error}", said.display()));
    let mut launch = Launch::new(program);
    launch.stdin = Stream::Null;
    // At its end, wherever a restore puts the program: what it prints is taken away in between.
    launch.stdout =
        Stream::File(File::options().create(true).append(true).open(said).map_err(failed)?.into());
    Ok(Setting {
        workshop: Box::new(Shop {
            begin: Box::new(move || start(&launch, false)),
            colour: terminal.errors.colour,
            program: Program::default(),
        }),
        files: Files { properties: vec![folder.join("queue.prop")], ..Files::default() },
        options: Options::default(),
        record: None,
        voice: Voice {
            out: Rc::new(|_| {}),
            properties: false,
            scenarios: false,
            notes: false,
            style: terminal.style,
        },
        style: terminal.style,
        bell: Bell::default(),
        console: None,
        asks: false,
        attached: false,
    })
}
