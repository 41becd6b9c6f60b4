//! How programs end, and what becomes of them when the tool does.

use crate::common::{Live, classes, event, launch, printed};
use invigil_jvm::{Launch, Target, library};
use invigil_jvm_agent::protocol::{
    self, Answer, Channel, Datum, Facts, Greeting, MAGIC, News, Occurred, Order, Request, VERSION,
};
use invigil_monitor::event::{Catalog, Kind};
use invigil_session::subject::{Ending, Stop, Subject, Trouble};
use std::io::Write;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

fn ends(how: &str) -> (Live, invigil_jvm::Launch) {
    let mut catalog = Catalog::default();
    event(&mut catalog, Kind::Before, "Ends.begin", &["how"]);
    event(&mut catalog, Kind::Before, "#exit", &["status"]);
    let mut launch = launch("Ends", &[how]);
    launch.stderr = invigil_jvm::Stream::Null;
    (Live::start(&launch, catalog), launch)
}

#[test]
fn every_end_is_told() {
    for (how, status) in [("return", 0), ("exit", 7), ("throw", 1), ("halt", 9)] {
        let (mut live, _) = ends(how);
        assert_eq!(live.run(), Stop::Ended(Ending::Exited(status)), "{how}");
        assert_eq!(live.events, [format!("Ends.begin(how={how})"), format!("#exit(status={status})")]);
        assert!(!live.target.is_alive());
        assert!(matches!(live.target.print("1"), Err(Trouble::Ended(_))));
    }
}

#[test]
fn a_killed_program() {
    let (mut live, _) = ends("sleep");
    live.run_to("Ends.begin");
    let process = live.target.facts().into_iter().find(|(name, _)| name == "process").unwrap().1;
    let kill = move || {
        std::thread::sleep(Duration::from_millis(200));
        assert!(Command::new("kill").args(["-9", &process]).status().unwrap().success());
    };
    let killer = std::thread::spawn(kill);
    let Stop::Ended(Ending::Killed { signal, .. }) = live.run() else { panic!("it lives") };
    assert_eq!(signal, "SIGKILL");
    killer.join().unwrap();
}

#[test]
fn we_can_end_it() {
    let (mut live, _) = ends("sleep");
    live.run_to("Ends.begin");
    live.target.kill().unwrap();
    assert!(!live.target.is_alive());
}

#[test]
fn a_deadlock_can_be_looked_at() {
    let mut live = Live::start(&launch("Deadlock", &[]), Catalog::default());
    let bell = live.target.interrupter();
    let ringer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(1500));
        bell.interrupt();
    });
    assert_eq!(live.run(), Stop::Interrupted);
    ringer.join().unwrap();
    let threads = live.target.threads();
    let blocked: Vec<_> = threads.iter().filter(|thread| thread.at.contains("waits for a lock")).collect();
    assert_eq!(blocked.len(), 2, "{threads:?}");
    assert!(blocked.iter().all(|thread| thread.at.contains("Deadlock.java:18")), "{threads:?}");
    live.target.select_thread(blocked[0].id).unwrap();
    assert!(live.target.locals().unwrap().iter().any(|local| local.name == "second"));
}

#[test]
fn java_that_does_not_begin() {
    let mut launch = Launch::new("java").args(["-no-such-option"]);
    launch.stderr = invigil_jvm::Stream::Null;
    let Err(Trouble::Subject(words)) = Target::launch(&launch) else { panic!("it begins") };
    assert!(words.contains("before the program began") && words.contains("status 1"), "{words}");
    let Err(Trouble::Subject(words)) = Target::launch(&Launch::new("/nowhere/java")) else {
        panic!("it begins")
    };
    assert!(words.contains("no such file"), "{words}");
}

// ---- a tool that does not do as it should ----------------------------------------------------------------

/// Starts a program with the agent, and plays the tool; gives the process, and the connections for control and news.
fn with_strange_tool(how: &str) -> (Child, UnixStream, UnixStream, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("agent");
    let listener = UnixListener::bind(&socket).unwrap();
    let option = format!("-agentpath:{}=l:{}", library().unwrap().display(), socket.display());
    let child = Command::new("java")
        .arg(option)
        .arg("-cp")
        .arg(classes())
        .args(["app.Ends", how])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut control, mut news) = (None, None);
    for _ in 0..2 {
        let (mut stream, _) = listener.accept().unwrap();
        let greeting: Greeting = protocol::receive(&mut stream).unwrap();
        match greeting.channel {
            Channel::Control => control = Some(stream),
            Channel::News => news = Some(stream),
        }
    }
    let (control, mut news) = (control.unwrap(), news.unwrap());
    assert_eq!(protocol::receive::<News>(&mut news).unwrap(), News::Ready);
    (child, control, news, folder)
}

#[test]
fn without_the_tool_a_program_does_not_begin() {
    let (child, control, news, _folder) = with_strange_tool("return");
    drop((control, news));
    let done = child.wait_with_output().unwrap();
    assert_eq!((done.status.code(), done.stdout.as_slice()), (Some(1), &b""[..]));
}

#[test]
fn garbage_from_the_tool_lets_the_program_go() {
    let (child, mut control, mut news, _folder) = with_strange_tool("return");
    protocol::send(&mut news, &protocol::Order::Go).unwrap();
    control.write_all(&[0xff; 64]).unwrap();
    let done = child.wait_with_output().unwrap();
    assert_eq!((done.status.code(), done.stdout.as_slice()), (Some(0), &b"done\n"[..]));
}

#[test]
fn a_tool_that_dies_leaves_the_program_running() {
    let (child, mut control, mut news, _folder) = with_strange_tool("return");
    let want = protocol::Want {
        key: protocol::Key::Event { number: 0 },
        moment: protocol::Moment::Enter,
        name: "Ends.begin".to_owned(),
        candidates: Vec::new(),
        asks: Vec::new(),
        route: None,
    };
    let mut ask = |request| {
        protocol::send(&mut control, &request).unwrap();
        protocol::receive::<protocol::Answer>(&mut control).unwrap()
    };
    ask(protocol::Request::Prepare { wants: vec![want] });
    ask(protocol::Request::Activate { events: vec![0] });
    protocol::send(&mut news, &protocol::Order::Go).unwrap();
    assert!(matches!(protocol::receive::<News>(&mut news), Ok(News::Hits { .. })));
    // The thread waits in the probe, and everything else is held, too.
    ask(protocol::Request::Hold);
    drop((control, news));
    let done = child.wait_with_output().unwrap();
    assert_eq!((done.status.code(), done.stdout.as_slice()), (Some(0), &b"done\n"[..]));
}

/// Plays the agent of a machine that ends before a thread can tell what someone is to react to.
fn plays_agent(socket: &std::path::Path) {
    let knock = |channel| {
        let mut stream = UnixStream::connect(socket).unwrap();
        let process = std::process::id();
        protocol::send(&mut stream, &Greeting { magic: MAGIC, version: VERSION, channel, process }).unwrap();
        stream
    };
    let (mut control, mut news) = (knock(Channel::Control), knock(Channel::News));
    let answers = std::thread::spawn(move || {
        while let Ok(request) = protocol::receive::<Request>(&mut control) {
            let nothing = String::new;
            let answer = match request {
                Request::Facts => Answer::Facts {
                    facts: Facts {
                        machine: nothing(),
                        class_path: nothing(),
                        directory: nothing(),
                        locals: true,
                        breakpoints: true,
                        steps: true,
                        debugger: false,
                    },
                },
                Request::Prepare { .. } => Answer::Problems { problems: Vec::new() },
                _ => Answer::Done,
            };
            protocol::send(&mut control, &answer).unwrap();
            if matches!(request, Request::Activate { .. }) {
                break;
            }
        }
    });
    protocol::send(&mut news, &News::Ready).unwrap();
    assert_eq!(protocol::receive::<Order>(&mut news).unwrap(), Order::Go);
    answers.join().unwrap();
    let values = vec![Datum::Int { value: 5 }];
    let due = vec![Occurred { symbol: 0, time: 1.0, thread: 7, values }];
    protocol::send(&mut news, &News::Exits { status: 3, past: None, due, complaints: Vec::new() }).unwrap();
}

#[test]
fn what_could_not_be_told_any_more_is_told_at_the_end() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (java, option) = (folder.path().join("java"), folder.path().join("option"));
    let script = format!(
        "#!/bin/sh\necho \"$1\" > {0}.new; mv {0}.new {0}\nwhile [ -e {0} ]; do sleep 0.02; done\nexit 3\n",
        option.display()
    );
    std::fs::write(&java, script).unwrap();
    std::fs::set_permissions(&java, std::fs::Permissions::from_mode(0o755)).unwrap();
    let agent = std::thread::spawn(move || {
        let socket = loop {
            if let Ok(text) = std::fs::read_to_string(&option) {
                break text.trim().rsplit(':').next().unwrap().to_owned();
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        plays_agent(socket.as_ref());
        std::fs::remove_file(option).unwrap();
    });
    let mut catalog = Catalog::default();
    event(&mut catalog, Kind::Before, "Ends.begin", &["how"]);
    event(&mut catalog, Kind::Before, "#exit", &["status"]);
    let mut live = Live::start(&Launch::new(java), catalog);
    assert_eq!(live.run(), Stop::Ended(Ending::Exited(3)));
    assert_eq!(live.events, ["Ends.begin(how=5)", "#exit(status=3)"]);
    assert_eq!(live.target.current_thread(), 7);
    agent.join().unwrap();
}

// ---- attaching -------------------------------------------------------------------------------------------

fn waits() -> Child {
    use std::io::{BufRead, BufReader};
    let mut child = Command::new("java")
        .arg("-cp")
        .arg(classes())
        .arg("app.Waits")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    child
}

#[test]
fn a_program_that_runs_can_be_watched_and_left() {
    let mut child = waits();
    let mut catalog = Catalog::default();
    event(&mut catalog, Kind::Before, "Waits.tick", &["this", "number"]);
    event(&mut catalog, Kind::Write, "Waits.ticks", &["ret"]);
    let target = Target::attach(child.id() as i32).unwrap();
    let (mut live, unknown) = Live::watch(target, catalog);
    assert!(unknown.is_empty(), "{unknown:?}");
    live.run_to("write Waits.ticks");
    live.run_to("Waits.tick(");
    assert!(
        live.events.iter().any(|event| event.starts_with("Waits.tick(this=1, number=")),
        "{:?}",
        live.events
    );
    assert!(live.stack()[0].starts_with("app.Waits.tick:"), "{:?}", live.stack());
    let Err(Trouble::Request(words)) = live.target.locals() else { panic!("locals of an attached program") };
    assert!(words.contains("invigil run"), "{words}");
    let Err(Trouble::Subject(words)) = Target::attach(child.id() as i32) else { panic!("two tools at once") };
    assert!(words.contains("does not load the agent"), "{words}");
    live.target.detach().unwrap();
    drop(live);
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "it runs on");
    // Another tool may come, again and again; objects keep their numbers.
    for _ in 0..3 {
        let mut catalog = Catalog::default();
        event(&mut catalog, Kind::After, "Waits.tick", &["this"]);
        let (mut live, unknown) = Live::watch(Target::attach(child.id() as i32).unwrap(), catalog);
        assert!(unknown.is_empty(), "{unknown:?}");
        live.run_to("after Waits.tick(this=1)");
        live.run_to("after Waits.tick(this=1)");
        live.target.detach().unwrap();
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn what_is_no_virtual_machine_is_left_alone() {
    let mut sleep = Command::new("sleep").arg("30").spawn().unwrap();
    let Err(Trouble::Subject(words)) = Target::attach(sleep.id() as i32) else { panic!("attached to sleep") };
    assert!(words.contains("no Java virtual machine"), "{words}");
    assert!(sleep.try_wait().unwrap().is_none());
    sleep.kill().unwrap();
    sleep.wait().unwrap();
    assert!(matches!(Target::attach(i32::MAX), Err(Trouble::Subject(words)) if words.contains("no process")));
}

#[test]
fn what_it_printed_is_whole() {
    let (mut live, launch) = ends("return");
    live.run();
    assert_eq!(printed(&launch), "done\n");
}
