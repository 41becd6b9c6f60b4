//! `attach`: programs that were started before.

use crate::common::{Folder, shell};
use crate::program::{TANK, folder};
use crate::prompt::Typed;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A running program with endless events.
struct RunningProgram {
    folder: Folder,
    child: Child,
}

impl RunningProgram {
    fn start() -> RunningProgram {
        let folder = folder().file("typo.prop", TANK.replace("event fill(", "event fil("));
        let mut child = Command::new(folder.path("tank"))
            .arg("pour")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program can be run");
        let mut begun = [0; 6];
        child.stdout.as_mut().expect("a pipe").read_exact(&mut begun).expect("it begins");
        RunningProgram { folder, child }
    }

    /// Asserts that the program runs without a tracer, and does not hit a trap that was left behind.
    #[track_caller]
    fn runs_on(&mut self) {
        thread::sleep(Duration::from_millis(200));
        let ended = self.child.try_wait().expect("it is our child");
        assert!(ended.is_none(), "the program is gone: {ended:?}");
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it is there");
        assert!(status.contains("TracerPid:\t0") && !status.contains("State:\tT"), "{status}");
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn failed_load_after_attach_detaches() {
    let mut program = RunningProgram::start();
    let commands = "load-property tank.prop\nbreak fill\ncontinue\nload-functions none.py\n";
    let program_folder = &program.folder;
    std::fs::write(program_folder.path("late"), commands).expect("a file");
    let ran = program_folder.run(&format!("attach --batch --commands late {}", program.child.id())).exits(2);
    ran.stderr_has(&["Monitoring tank", "Breakpoint 1, fill", "none.py", "The program continues to run."]);
    program.runs_on();
    let line = format!("attach --batch --commands again {}", program.child.id());
    std::fs::write(program.folder.path("again"), "break fill\ncontinue\nrun\n").expect("a file");
    program.folder.run(&line).exits(2).stderr_has(&["cannot be restarted", "`continue`"]);
    program.runs_on();
}

#[test]
fn property_with_unknown_function_detaches() {
    let mut program = RunningProgram::start();
    let line = format!("attach --batch -p typo.prop {}", program.child.id());
    program.folder.run(&line).exits(2).stderr_has(&["no function `fil`"]);
    program.runs_on();
}

/// Attaches to the program and sends a signal as soon as it is traced.
fn signalled(program: &RunningProgram, signal: &str) -> Option<i32> {
    let mut command = shell(&format!("exec invigil attach -p tank.prop --batch {}", program.child.id()));
    command.current_dir(program.folder.path(".")).stdin(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the command can be run");
    let until = Instant::now() + Duration::from_secs(20);
    let traced = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", program.child.id()));
        status.is_ok_and(|status| !status.contains("TracerPid:\t0"))
    };
    while !traced() {
        assert!(Instant::now() < until, "it is not watched");
        thread::sleep(Duration::from_millis(10));
    }
    thread::sleep(Duration::from_millis(500));
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(sent.expect("kill is there").success());
    child.wait().expect("it ends").code()
}

#[test]
fn signal_in_batch_mode_detaches() {
    let mut program = RunningProgram::start();
    for signal in ["-TERM", "-HUP", "-QUIT", "-INT"] {
        assert_eq!(signalled(&program, signal), Some(130), "{signal}");
        program.runs_on();
    }
}

#[test]
fn signal_at_prompt_detaches() {
    let mut program = RunningProgram::start();
    let invigil = env!("CARGO_BIN_EXE_invigil");
    let line = format!(
        "(sleep 2; kill -TERM $$) & exec {invigil} --color never attach --pause -p tank.prop {}",
        program.child.id()
    );
    let typed = Typed::line(folder(), &line);
    typed.waits("The program is stopped");
    typed.waits("(invigil) ");
    typed.exits(130);
    program.runs_on();
}

#[test]
fn quit_asks_before_detaching() {
    let mut program = RunningProgram::start();
    let line = format!("{} --color never attach {}", env!("CARGO_BIN_EXE_invigil"), program.child.id());
    let mut typed = Typed::line(folder(), &line);
    typed.enters("quit\r");
    typed.waits("Detach from the program and quit? (y or n)");
    typed.types("y\r");
    typed.exits(0);
    program.runs_on();
}
