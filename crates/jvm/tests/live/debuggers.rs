//! Another debugger at the same program.

use crate::common::{Live, classes, event, printed};
use invigil_jvm::{Launch, Stream};
use invigil_monitor::event::{Catalog, Kind};
use invigil_session::subject::{Ending, Owner, PointSpec, Stop, Subject, Trouble, What};
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
    let mut catalog = Catalog::default();
    event(&mut catalog, Kind::Before, "Queue.push", &[]);
    event(&mut catalog, Kind::Before, "Queue.pop", &[]);
    let mut live = Live::start(&launch, catalog);
    // Points at lines are the other debugger's.
    let line = PointSpec::new(What::Reach("Shop.java:18".to_owned()));
    let Err(Trouble::Request(words)) = live.target.set_point(Owner::Developer, &line) else {
        panic!("two debuggers")
    };
    assert!(words.contains("another debugger"), "{words}");
    assert_eq!(live.next(), Ok(Stop::Events));
    let mut jdb = Jdb::attach(port);
    jdb.types("stop in java.lang.Invigil.onViolation");
    jdb.waits("Set breakpoint");
    assert_eq!(live.next(), Ok(Stop::Events));
    live.target.hold().unwrap();
    jdb.waits("Breakpoint hit");
    let Err(Trouble::Request(words)) = live.target.print("size") else { panic!("jdb holds it") };
    assert!(words.contains("another debugger holds"), "{words}");
    jdb.types("where");
    jdb.waits("app.Queue.pop");
    jdb.types("cont");
    jdb.types("quit");
    let _ = jdb.child.wait();
    assert_eq!(live.stack(), ["app.Queue.pop:23", "app.Shop.main:16"]);
    // Newer machines let threads be looked into only by who may hold them.
    match live.target.print("size") {
        Ok(value) => assert_eq!(value, "1"),
        Err(trouble) => assert!(trouble.to_string().contains("another debugger has the right"), "{trouble}"),
    }
    assert_eq!(live.run(), Stop::Ended(Ending::Exited(0)));
    assert_eq!(printed(&launch), "sum 11\n");
}
