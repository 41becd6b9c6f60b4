//! The zsh example, in a pseudo-terminal. Skipped with a message if zsh is not installed.

use invigil_test_support::tools;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// zsh under a property, in a terminal that `script` provides.
struct Shell {
    child: Child,
    shown: Arc<Mutex<String>>,
}

impl Shell {
    /// `None` if zsh is not installed.
    fn start(property: &str) -> Option<Shell> {
        if !tools::is_installed("zsh") {
            return None;
        }
        let invigil = env!("CARGO_BIN_EXE_invigil");
        let options = format!("--batch --later --prints --env 'PS1=ready> ' -p {property}");
        let line = format!("exec {invigil} --color never run {options} -- zsh -f -i");
        let mut child = Command::new("script")
            .args(["-qefc", &line, "/dev/null"])
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/zsh"))
            .env("SHELL", "/bin/sh")
            .env("TERM", "xterm")
            .env_remove("NO_COLOR")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("there is `script`, of util-linux");
        let shown = Arc::new(Mutex::new(String::new()));
        let (mut out, all) = (child.stdout.take().expect("a pipe"), Arc::clone(&shown));
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = out.read(&mut buffer) {
                all.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..count]));
            }
        });
        Some(Shell { child, shown })
    }

    /// Waits until something is shown that was not before; gives what was shown up to there.
    #[track_caller]
    fn waits(&self, part: &str) -> String {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let mut shown = self.shown.lock().unwrap();
            if let Some(at) = shown.find(part) {
                return shown.drain(..at + part.len()).collect();
            }
            assert!(Instant::now() < until, "no `{part}` in\n{shown}");
            drop(shown);
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn types(&mut self, text: &str) {
        let input = self.child.stdin.as_mut().expect("a pipe");
        input.write_all(text.as_bytes()).and_then(|()| input.flush()).expect("it reads");
    }

    #[track_caller]
    fn exits(mut self, status: i32) {
        // Waiting would close the terminal's input, and the session would receive a hang-up instead of exiting normally.
        let input = self.child.stdin.take();
        let done = self.child.wait().expect("it ends");
        drop(input);
        assert_eq!(done.code(), Some(status), "{}", self.shown.lock().unwrap());
    }
}

/// Types it at the prompt, tab and all, waits until the completion is over, and takes it all back.
fn completes(shell: &mut Shell, text: &str, calls: u32) -> u32 {
    shell.types(text);
    shell.types("\t");
    shell.waits("calls of itype_end in them: ");
    let shown = shell.waits("\n");
    let now = shown.trim().parse().expect("a number");
    assert!(now >= calls, "{shown}");
    shell.types("\u{15}");
    now
}

#[test]
fn the_completion_of_zsh() {
    let Some(mut shell) = Shell::start("completion.prop") else { return };
    shell.waits("note: ");
    shell.waits("ready> ");
    // Older versions crashed on completion directly after `>`.
    let calls = completes(&mut shell, "! >", 0);
    let calls = completes(&mut shell, "! >.", calls);
    let calls = completes(&mut shell, "echo completion.p", calls);
    assert!(calls > 0, "the property received no event");
    shell.types("exit\n");
    shell.waits("completion");
    shell.waits("holds");
    shell.waits("exited with status 0");
    shell.exits(0);
}

#[test]
fn a_property_that_does_not_hold() {
    let Some(mut shell) = Shell::start("quiet.prop") else { return };
    shell.waits("ready> ");
    shell.types("echo completion.p\t");
    shell.waits("violation 1: quiet");
    shell.waits("opendir(path='.')");
    shell.waits("completing → looks_around");
    shell.waits("execzlefunc () from ");
    shell.exits(1);
}
