//! The prompt, in a pseudo-terminal.

use crate::program::folder;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A session in a pseudo-terminal of `script`.
pub(crate) struct Typed {
    child: std::process::Child,
    shown: std::sync::Arc<std::sync::Mutex<String>>,
    _folder: crate::common::Folder,
}

impl Typed {
    fn start(options: &str) -> Typed {
        // `exec`, because a shell would receive Ctrl-C as well and exit with its own status.
        Typed::line(folder(), &format!("exec {} --color never run {options}", env!("CARGO_BIN_EXE_invigil")))
    }

    /// Runs a line of shell in a terminal, with a fixed shell.
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

    /// Waits until the text appears in the output and drops the output up to it.
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

    /// Types text at the next prompt.
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
        // `wait` would close the terminal's input and hang the session up.
        let input = self.child.stdin.take();
        let done = self.child.wait().expect("it ends");
        drop(input);
        assert_eq!(done.code(), Some(status), "{}", self.shown.lock().unwrap());
    }
}

impl Drop for Typed {
    fn drop(&mut self) {
        // Terminates the session of a failed test.
        let _ = self.child.kill();
    }
}

#[test]
fn prompt_session_inspects_violation() {
    let mut typed = Typed::start("-p tank.prop -- ./tank 4 5 -1 3");
    typed.waits("Violation of tank");
    typed.waits("event      4, fill(amount=3)");
    typed.waits("void fill(int amount) {");
    typed.enters("print am\t\r");
    typed.waits("amount = 3");
    typed.enters("wher\r");
    typed.waits("#1 main (argc=5");
    typed.enters("nonsense\r");
    typed.waits("error: unknown command `nonsense`");
    // Ctrl-C clears the line.
    typed.enters("garbage");
    typed.waits("garbage");
    typed.types("\u{3}");
    typed.enters("step\r");
    typed.waits("level += amount;");
    typed.enters("\r");
    typed.waits("> ");
    typed.enters("quit\r");
    typed.waits("Kill it and quit? (y or n)");
    typed.types("n\r");
    typed.enters("continue\r");
    typed.waits("exited with status 11");
    // Ctrl-D leaves without a question because the program has exited.
    typed.enters("\u{4}");
    typed.exits(1);
}

#[test]
fn session_without_property_is_a_debugger() {
    let mut typed = Typed::start("-- ./tank 4 spin");
    typed.waits("stopped at its entry");
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
fn breakpoints_survive_restart() {
    let mut typed = Typed::start("-- ./tank 4 5");
    typed.waits("stopped at its entry");
    typed.enters("break fill if amount == 5\r");
    typed.waits("Breakpoint 1: fill");
    typed.enters("break drain\r");
    typed.waits("Breakpoint 2: drain");
    typed.enters("disable 2\r");
    typed.waits("Disabled 2");
    typed.enters("continue\r");
    typed.waits("Breakpoint 1, fill");
    typed.enters("watch level\r");
    typed.waits("Watchpoint 3");
    typed.enters("break 13\r");
    typed.waits("program.c:13");
    typed.enters("run\r");
    typed.waits("(y or n)");
    typed.types("y\r");
    typed.waits("Breakpoint 4, ");
    typed.enters("info breakpoints\r");
    typed.waits("disabled");
    typed.waits("writes of level");
    typed.enters("delete 4\r");
    typed.waits("Deleted");
    typed.enters("continue\r");
    typed.waits("Watchpoint 3, ");
    typed.enters("delete 3\r");
    typed.waits("Deleted");
    typed.enters("continue\r");
    typed.waits("Breakpoint 1, fill");
    typed.enters("continue\r");
    typed.waits("exited with status 9");
    // They are also kept when the program has exited.
    typed.enters("run\r");
    typed.waits("Breakpoint 1, fill");
    typed.enters("delete\r");
    typed.waits("Deleted");
    typed.enters("continue\r");
    typed.waits("exited with status 9");
    typed.enters("quit\r");
    typed.exits(0);
}

#[test]
fn terminal_modes_are_switched_with_program() {
    let line = format!(
        "{} --color never run -p tank.prop -- ./tank raw 4 9 modes; stty -a",
        env!("CARGO_BIN_EXE_invigil")
    );
    let mut typed = Typed::line(folder(), &line);
    typed.waits("Violation of tank");
    typed.enters("continue\r");
    typed.waits("modes raw");
    typed.waits("exited with status 13");
    typed.enters("quit\r");
    typed.waits(" icanon");
    typed.exits(0);
}

#[test]
fn foreground_group_is_switched_with_program() {
    let mut typed = Typed::start("-p tank.prop -- ./tank front 4 9 modes");
    typed.waits("Violation of tank");
    typed.enters("print amount\r");
    typed.waits("amount = 9");
    typed.enters("continue\r");
    typed.waits("group own");
    typed.waits("exited with status 13");
    typed.enters("quit\r");
    typed.exits(1);
}
