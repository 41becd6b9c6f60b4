//! Programs that were running before we came.

use crate::common::{Folder, shell};
use crate::program::{TANK, folder};
use crate::prompt::Typed;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A program that fills a tank for ever, with nothing.
struct Pouring {
    folder: Folder,
    child: Child,
}

impl Pouring {
    fn begin() -> Pouring {
        let folder = folder().file("typo.prop", TANK.replace("event fill(", "event fil("));
        let mut child = Command::new(folder.path("tank"))
            .arg("pour")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program can be run");
        let mut begun = [0; 6];
        child.stdout.as_mut().expect("a pipe").read_exact(&mut begun).expect("it begins");
        Pouring { folder, child }
    }

    /// Demands that the program is there and stays, which one with our traps in it would not.
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

impl Drop for Pouring {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn files_that_come_later_leave_the_program_alone() {
    let mut pouring = Pouring::begin();
    let commands = "load-property tank.prop\nbreak fill\ncontinue\nload-functions none.py\n";
    let pouring_folder = &pouring.folder;
    std::fs::write(pouring_folder.path("late"), commands).expect("a file");
    let ran = pouring_folder.run(&format!("attach --batch --commands late {}", pouring.child.id())).exits(2);
    ran.complains(&["Watching tank", "Breakpoint 1, fill", "none.py", "It runs on."]);
    pouring.runs_on();
    let line = format!("attach --batch --commands again {}", pouring.child.id());
    std::fs::write(pouring.folder.path("again"), "break fill\ncontinue\nrun\n").expect("a file");
    pouring.folder.run(&line).exits(2).complains(&["cannot be begun anew", "`continue`"]);
    pouring.runs_on();
}

#[test]
fn a_property_that_does_not_fit_leaves_the_program_alone() {
    let mut pouring = Pouring::begin();
    let line = format!("attach --batch -p typo.prop {}", pouring.child.id());
    pouring.folder.run(&line).exits(2).complains(&["no function `fil`"]);
    pouring.runs_on();
}

/// Begins to watch the program, and sends a signal as soon as it is watched.
fn signalled(pouring: &Pouring, signal: &str) -> Option<i32> {
    let mut command = shell(&format!("exec invigil attach -p tank.prop --batch {}", pouring.child.id()));
    command.current_dir(pouring.folder.path(".")).stdin(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the command can be run");
    let until = Instant::now() + Duration::from_secs(20);
    let traced = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", pouring.child.id()));
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
fn signals_leave_the_program_alone() {
    let mut pouring = Pouring::begin();
    for signal in ["-TERM", "-HUP", "-QUIT", "-INT"] {
        assert_eq!(signalled(&pouring, signal), Some(130), "{signal}");
        pouring.runs_on();
    }
}

#[test]
fn a_signal_at_the_prompt_leaves_the_program_alone() {
    let mut pouring = Pouring::begin();
    let invigil = env!("CARGO_BIN_EXE_invigil");
    let line = format!(
        "(sleep 2; kill -TERM $$) & exec {invigil} --color never attach --pause -p tank.prop {}",
        pouring.child.id()
    );
    let typed = Typed::line(folder(), &line);
    typed.waits("The program stands still");
    typed.waits("(invigil) ");
    typed.exits(130);
    pouring.runs_on();
}

#[test]
fn leaving_asks_in_words_that_fit() {
    let mut pouring = Pouring::begin();
    let line = format!("{} --color never attach {}", env!("CARGO_BIN_EXE_invigil"), pouring.child.id());
    let mut typed = Typed::line(folder(), &line);
    typed.enters("quit\r");
    typed.waits("Let the program run on, and leave? (y or n)");
    typed.types("y\r");
    typed.exits(0);
    pouring.runs_on();
}
