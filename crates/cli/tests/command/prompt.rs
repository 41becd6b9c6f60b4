//! The prompt, in a terminal of its own.

use crate::program::folder;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A session in a terminal, which `script` provides.
pub(crate) struct Typed {
    child: std::process::Child,
    shown: std::sync::Arc<std::sync::Mutex<String>>,
    _folder: crate::common::Folder,
}

impl Typed {
    fn start(options: &str) -> Typed {
        // The shell makes way: one that stays would take Ctrl-C for itself, too, and end with a status of its own.
        Typed::line(folder(), &format!("exec {} --color never run {options}", env!("CARGO_BIN_EXE_invigil")))
    }

    /// A line of shell in a terminal. Which shell that is must not depend on who runs the tests.
    pub(crate) fn line(folder: crate::common::Folder, line: &str) -> Typed {
        let mut child = Command::new("script")
            .args(["-qefc", line, "/dev/null"])
            .current_dir(folder.path("."))
            .env("SHELL", "/bin/sh")
            .env("XDG_STATE_HOME", folder.path("state"))
            .env("TERM", "xterm")
            .env_remove("NO_COLOR")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("there is `script`, of util-linux");
        let shown = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
        let (mut out, all) = (child.stdout.take().expect("a pipe"), std::sync::Arc::clone(&shown));
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = out.read(&mut buffer) {
                all.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..count]));
            }
        });
        Typed { child, shown, _folder: folder }
    }

    /// Waits until something is shown that was not before; forgets what was shown up to there.
    #[track_caller]
    pub(crate) fn waits(&self, part: &str) {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let mut shown = self.shown.lock().unwrap();
            if let Some(at) = shown.find(part) {
                shown.drain(..at + part.len());
                return;
            }
            assert!(Instant::now() < until, "no `{part}` in\n{shown}");
            drop(shown);
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Types something at the next prompt.
    #[track_caller]
    pub(crate) fn enters(&mut self, text: &str) {
        self.waits("(invigil) ");
        self.types(text);
    }

    pub(crate) fn types(&mut self, text: &str) {
        let input = self.child.stdin.as_mut().expect("a pipe");
        input.write_all(text.as_bytes()).and_then(|()| input.flush()).expect("it reads");
    }

    #[track_caller]
    pub(crate) fn exits(mut self, status: i32) {
        // Waiting would close the terminal's input, and the session would be hung up on instead of ending by itself.
        let input = self.child.stdin.take();
        let done = self.child.wait().expect("it ends");
        drop(input);
        assert_eq!(done.code(), Some(status), "{}", self.shown.lock().unwrap());
    }
}

impl Drop for Typed {
    fn drop(&mut self) {
        // A test that fails leaves nobody at the prompt.
        let _ = self.child.kill();
    }
}

#[test]
fn a_session_with_a_person() {
    let mut typed = Typed::start("-p tank.prop -- ./tank 4 5 -1 3");
    typed.waits("Violation of tank");
    typed.waits("event      4, fill(amount=3)");
    typed.waits("void fill(int amount) {");
    typed.enters("print am\t\r");
    typed.waits("amount = 3");
    typed.enters("wher\r");
    typed.waits("#1 main (argc=5");
    typed.enters("nonsense\r");
    typed.waits("error: there is no command `nonsense`");
    // Ctrl-C clears the line.
    typed.enters("garbage");
    typed.waits("garbage");
    typed.types("\u{3}");
    typed.enters("step\r");
    typed.waits("level += amount;");
    typed.enters("\r");
    typed.waits("> ");
    typed.enters("quit\r");
    typed.waits("End it and leave? (y or n)");
    typed.types("n\r");
    typed.enters("continue\r");
    typed.waits("it exited with status 11");
    // Ctrl-D leaves; there is nothing left to ask for.
    typed.enters("\u{4}");
    typed.exits(1);
}

#[test]
fn just_a_debugger() {
    let mut typed = Typed::start("-- ./tank 4 spin");
    typed.waits("stands at its beginning");
    typed.enters("break fill\r");
    typed.waits("Breakpoint 1: fill");
    typed.enters("continue\r");
    typed.waits("Breakpoint 1, fill");
    typed.enters("continue\r");
    thread::sleep(Duration::from_millis(500));
    // Ctrl-C while the program runs.
    typed.types("\u{3}");
    typed.waits("Interrupted");
    typed.enters("where\r");
    typed.waits("main (argc=3");
    typed.enters("quit\r");
    typed.waits("(y or n)");
    typed.types("y\r");
    typed.exits(0);
}

#[test]
fn points_stay_when_the_program_begins_anew() {
    let mut typed = Typed::start("-- ./tank 4 5");
    typed.waits("stands at its beginning");
    typed.enters("break fill if amount == 5\r");
    typed.waits("Breakpoint 1: fill");
    typed.enters("break drain\r");
    typed.waits("Breakpoint 2: drain");
    typed.enters("disable 2\r");
    typed.waits("Turned off 2");
    typed.enters("continue\r");
    typed.waits("Breakpoint 1, fill");
    typed.enters("watch level\r");
    typed.waits("Watchpoint 3");
    typed.enters("break 13\r");
    typed.waits("tank.c:13");
    typed.enters("run\r");
    typed.waits("(y or n)");
    typed.types("y\r");
    typed.waits("Breakpoint 4, ");
    typed.enters("info breakpoints\r");
    typed.waits("off");
    typed.waits("writes of level");
    typed.enters("delete 4\r");
    typed.waits("Removed");
    typed.enters("continue\r");
    typed.waits("Watchpoint 3, ");
    typed.enters("delete 3\r");
    typed.waits("Removed");
    typed.enters("continue\r");
    typed.waits("Breakpoint 1, fill");
    typed.enters("continue\r");
    typed.waits("it exited with status 9");
    // They are kept, too, when the program has come to its end.
    typed.enters("run\r");
    typed.waits("Breakpoint 1, fill");
    typed.enters("delete\r");
    typed.waits("Removed");
    typed.enters("continue\r");
    typed.waits("it exited with status 9");
    typed.enters("quit\r");
    typed.exits(0);
}

#[test]
fn a_program_that_changes_the_terminal() {
    let line = format!(
        "{} --color never run -p tank.prop -- ./tank raw 4 9 modes; stty -a",
        env!("CARGO_BIN_EXE_invigil")
    );
    let mut typed = Typed::line(folder(), &line);
    typed.waits("Violation of tank");
    typed.enters("continue\r");
    typed.waits("modes raw");
    typed.waits("it exited with status 13");
    typed.enters("quit\r");
    typed.waits(" icanon");
    typed.exits(0);
}

#[test]
fn a_program_that_takes_the_foreground() {
    let mut typed = Typed::start("-p tank.prop -- ./tank front 4 9 modes");
    typed.waits("Violation of tank");
    typed.enters("print amount\r");
    typed.waits("amount = 9");
    typed.enters("continue\r");
    typed.waits("group own");
    typed.waits("it exited with status 13");
    typed.enters("quit\r");
    typed.exits(1);
}
