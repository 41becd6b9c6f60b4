//! Another debugger on the same program.

use crate::common::{Live, classes, printed};
use invigil_jvm::{Launch, Stream};
use invigil_monitor::event::{EventCatalog, EventKind};
use invigil_target::prelude::*;
use invigil_target::{BreakpointKind, BreakpointSpec, Owner, StopReason, TargetError, Termination};
use invigil_test_support::language::declare;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

struct Jdb {
    child: Child,
    input: ChildStdin,
    output: Receiver<u8>,
    seen: String,
}

impl Jdb {
    fn attach(port: u16) -> Jdb {
        let mut child = Command::new("jdb")
            .args(["-attach", &format!("127.0.0.1:{port}")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("there is jdb");
        let (input, mut out) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, output) = channel();
        thread::spawn(move || {
            let mut byte = [0];
            while let Ok(1) = out.read(&mut byte) {
                if sender.send(byte[0]).is_err() {
                    break;
                }
            }
        });
        Jdb { child, input, output, seen: String::new() }
    }

    fn types(&mut self, line: &str) {
        writeln!(self.input, "{line}").and_then(|()| self.input.flush()).expect("jdb reads");
    }

    #[track_caller]
    fn waits(&mut self, part: &str) {
        let until = Instant::now() + Duration::from_secs(30);
        while !self.seen.contains(part) {
            match self.output.recv_timeout(Duration::from_millis(100)) {
                Ok(byte) => self.seen.push(byte.into()),
                Err(_) => assert!(Instant::now() < until, "no `{part}` in\n{}", self.seen),
            }
        }
        self.seen.clear();
    }
}

impl Drop for Jdb {
    fn drop(&mut self) {
        let _ = self.child.kill().and_then(|()| self.child.wait());
    }
}

#[test]
fn jdb_stops_at_a_violation() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let jdwp =
        format!("-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,quiet=y,address=127.0.0.1:{port}");
    let mut launch =
        Launch::new("java").args([jdwp.as_str(), "-cp"]).args([classes()]).args(["app.Shop", "2"]);
    launch.stdout = Stream::File(tempfile::tempfile().unwrap().into());
    let mut catalog = EventCatalog::default();
    declare(&mut catalog, EventKind::Before, "Queue.push", &[]);
    declare(&mut catalog, EventKind::Before, "Queue.pop", &[]);
    let mut live = Live::start(&launch, catalog);
    // Breakpoints at lines belong to the other debugger.
    let line = BreakpointSpec::new(BreakpointKind::Location("Shop.java:18".to_owned()));
    let Err(TargetError::Request(words)) = live.target.set_breakpoint(Owner::User, &line) else {
        panic!("two debuggers")
    };
    assert!(words.contains("another debugger"), "{words}");
    assert_eq!(live.next(), Ok(StopReason::Events));
    let mut jdb = Jdb::attach(port);
    jdb.types("stop in java.lang.Invigil.onViolation");
    jdb.waits("Set breakpoint");
    assert_eq!(live.next(), Ok(StopReason::Events));
    live.target.stop_all().unwrap();
    jdb.waits("Breakpoint hit");
    let Err(TargetError::Request(words)) = live.target.evaluate("size") else { panic!("jdb holds it") };
    assert!(words.contains("another debugger holds"), "{words}");
    jdb.types("where");
    jdb.waits("app.Queue.pop");
    jdb.types("cont");
    jdb.types("quit");
    let _ = jdb.child.wait();
    assert_eq!(live.stack(), ["app.Queue.pop:23", "app.Shop.main:16"]);
    // Newer virtual machines allow inspecting a thread only with the right to suspend it.
    match live.target.evaluate("size") {
        Ok(value) => assert_eq!(value, "1"),
        Err(error) => assert!(error.to_string().contains("another debugger has the right"), "{error}"),
    }
    assert_eq!(live.run(), StopReason::Ended(Termination::Exited(0)));
    assert_eq!(printed(&launch), "sum 11\n");
}
