//! How programs end, and what happens to them when the debugger ends.

use crate::common::{Live, classes, launch, printed};
use invigil_expr::value::Value;
use invigil_jvm::{AGENT, JavaTarget, Launch};
use invigil_jvm_agent::protocol::{
    self, AgentEvent, Answer, Channel, DeadObjectIds, Greeting, MAGIC, Request, ThreadCommand, VERSION,
    VmInfo, WireReplayLog,
};
use invigil_monitor::embedded::ReplayLog;
use invigil_monitor::event::{EventCatalog, EventId, EventKind, EventMeta};
use invigil_target::prelude::*;
use invigil_target::{ResumeMode, StopReason, TargetError, Termination};
use invigil_test_support::language::declare;
use std::io::Write;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

fn ends(how: &str) -> (Live, invigil_jvm::Launch) {
    let mut catalog = EventCatalog::default();
    declare(&mut catalog, EventKind::Before, "Ends.begin", &["how"]);
    declare(&mut catalog, EventKind::Before, "#exit", &["status"]);
    let mut launch = launch("Ends", &[how]);
    launch.stderr = invigil_jvm::Stream::Null;
    (Live::start(&launch, catalog), launch)
}

#[test]
fn every_kind_of_exit_is_reported() {
    for (how, status) in [("return", 0), ("exit", 7), ("throw", 1), ("halt", 9)] {
        let (mut live, _) = ends(how);
        assert_eq!(live.run(), StopReason::Ended(Termination::Exited(status)), "{how}");
        assert_eq!(live.events, [format!("Ends.begin(how={how})"), format!("#exit(status={status})")]);
        assert!(!live.target.is_alive());
        assert!(matches!(live.target.evaluate("1"), Err(TargetError::Ended(_))));
    }
}

#[test]
fn killed_program_is_reported() {
    let (mut live, _) = ends("sleep");
    live.run_to("Ends.begin");
    let process = live.target.info().into_iter().find(|(name, _)| name == "process").unwrap().1;
    let kill = move || {
        std::thread::sleep(Duration::from_millis(200));
        assert!(Command::new("kill").args(["-9", &process]).status().unwrap().success());
    };
    let killer = std::thread::spawn(kill);
    let StopReason::Ended(Termination::Killed { signal, .. }) = live.run() else { panic!("it lives") };
    assert_eq!(signal, "SIGKILL");
    killer.join().unwrap();
}

#[test]
fn kill_ends_the_program() {
    let (mut live, _) = ends("sleep");
    live.run_to("Ends.begin");
    live.target.kill().unwrap();
    assert!(!live.target.is_alive());
}

#[test]
fn deadlocked_program_can_be_inspected() {
    let mut live = Live::start(&launch("Deadlock", &[]), EventCatalog::default());
    let bell = live.target.interrupter();
    let ringer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(1500));
        bell.interrupt();
    });
    assert_eq!(live.run(), StopReason::Interrupted);
    ringer.join().unwrap();
    let threads = live.target.threads();
    let blocked: Vec<_> =
        threads.iter().filter(|thread| thread.location.contains("waits for a lock")).collect();
    assert_eq!(blocked.len(), 2, "{threads:?}");
    assert!(blocked.iter().all(|thread| thread.location.contains("Deadlock.java:18")), "{threads:?}");
    live.target.select_thread(blocked[0].id).unwrap();
    assert!(live.target.locals().unwrap().iter().any(|local| local.name == "second"));
}

#[test]
fn failed_start_of_java_is_explained() {
    let mut launch = Launch::new("java").args(["-no-such-option"]);
    launch.stderr = invigil_jvm::Stream::Null;
    let Err(TargetError::Control(words)) = JavaTarget::launch(&launch) else { panic!("it begins") };
    assert!(words.contains("before the program started") && words.contains("status 1"), "{words}");
    let Err(TargetError::Control(words)) = JavaTarget::launch(&Launch::new("/nowhere/java")) else {
        panic!("it begins")
    };
    assert!(words.contains("no such file"), "{words}");
}

// ---- a misbehaving debugger ------------------------------------------------------------------------------

/// Starts a program with the agent and plays the debugger. Returns the process, and the connections for requests and
/// events.
fn with_fake_debugger(how: &str) -> (Child, UnixStream, UnixStream, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("agent");
    let listener = UnixListener::bind(&socket).unwrap();
    let agent = folder.path().join("libagent.so");
    std::fs::write(&agent, AGENT).unwrap();
    let option = format!("-agentpath:{}=l:{}", agent.display(), socket.display());
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
            Channel::Events => news = Some(stream),
        }
    }
    let (control, mut news) = (control.unwrap(), news.unwrap());
    assert_eq!(protocol::receive::<AgentEvent>(&mut news).unwrap(), AgentEvent::Ready);
    (child, control, news, folder)
}

#[test]
fn program_does_not_start_without_debugger() {
    let (child, control, news, _folder) = with_fake_debugger("return");
    drop((control, news));
    let done = child.wait_with_output().unwrap();
    assert_eq!((done.status.code(), done.stdout.as_slice()), (Some(1), &b""[..]));
}

#[test]
fn malformed_requests_release_the_program() {
    let (child, mut control, mut news, _folder) = with_fake_debugger("return");
    protocol::send(&mut news, &protocol::ThreadCommand::Continue).unwrap();
    control.write_all(&[0xff; 64]).unwrap();
    let done = child.wait_with_output().unwrap();
    assert_eq!((done.status.code(), done.stdout.as_slice()), (Some(0), &b"done\n"[..]));
}

#[test]
fn program_continues_when_debugger_dies() {
    let (child, mut control, mut news, _folder) = with_fake_debugger("return");
    let want = protocol::Subscription {
        id: protocol::SubscriptionId::Event { number: 0 },
        trigger: protocol::Trigger::Enter,
        name: "Ends.begin".to_owned(),
        candidates: Vec::new(),
        value_requests: Vec::new(),
        variable_path: None,
    };
    let mut ask = |request| {
        protocol::send(&mut control, &request).unwrap();
        protocol::receive::<protocol::Answer>(&mut control).unwrap()
    };
    ask(protocol::Request::Prepare { subscriptions: vec![want] });
    ask(protocol::Request::Activate { events: vec![0] });
    protocol::send(&mut news, &protocol::ThreadCommand::Continue).unwrap();
    assert!(matches!(protocol::receive::<AgentEvent>(&mut news), Ok(AgentEvent::Notified { .. })));
    // The thread waits in the probe, and all others are suspended.
    ask(protocol::Request::SuspendAll);
    drop((control, news));
    let done = child.wait_with_output().unwrap();
    assert_eq!((done.status.code(), done.stdout.as_slice()), (Some(0), &b"done\n"[..]));
}

/// Plays the agent of a virtual machine that ends with this replay log.
fn plays_agent(socket: &std::path::Path, log: Vec<u8>) {
    let knock = |channel| {
        let mut stream = UnixStream::connect(socket).unwrap();
        let process = std::process::id();
        protocol::send(&mut stream, &Greeting { magic: MAGIC, version: VERSION, channel, process }).unwrap();
        stream
    };
    let (mut control, mut news) = (knock(Channel::Control), knock(Channel::Events));
    let answers = std::thread::spawn(move || {
        while let Ok(request) = protocol::receive::<Request>(&mut control) {
            let nothing = String::new;
            let answer = match request {
                Request::Info => Answer::Info {
                    info: VmInfo {
                        machine: nothing(),
                        class_path: nothing(),
                        directory: nothing(),
                        locals: true,
                        breakpoints: true,
                        steps: true,
                        debugger: false,
                    },
                },
                Request::Prepare { .. } => Answer::Errors { errors: Vec::new() },
                _ => Answer::Done,
            };
            protocol::send(&mut control, &answer).unwrap();
            if matches!(request, Request::Activate { .. }) {
                break;
            }
        }
    });
    protocol::send(&mut news, &AgentEvent::Ready).unwrap();
    assert_eq!(protocol::receive::<ThreadCommand>(&mut news).unwrap(), ThreadCommand::Continue);
    answers.join().unwrap();
    let replay_log = Some(WireReplayLog { log, dead: DeadObjectIds::default() });
    protocol::send(&mut news, &AgentEvent::Exits { status: 3, replay_log, warnings: Vec::new() }).unwrap();
}

/// Starts a program whose agent sends this replay log when the program ends, without having sent its last event.
fn ends_with_log(log: Vec<u8>) -> (Live, std::thread::JoinHandle<()>, tempfile::TempDir) {
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
        plays_agent(socket.as_ref(), log);
        std::fs::remove_file(option).unwrap();
    });
    let mut catalog = EventCatalog::default();
    declare(&mut catalog, EventKind::Before, "Ends.begin", &["how"]);
    declare(&mut catalog, EventKind::Before, "#exit", &["status"]);
    (Live::start(&Launch::new(java), catalog), agent, folder)
}

#[test]
fn unsent_events_are_reported_at_the_end() {
    let mut log = ReplayLog::empty(&[], &[]);
    log.events.push(EventId(0), &[Value::int(5)], EventMeta { time: 1.0, line: 0 });
    (log.threads, log.due) = (vec![7], 1);
    let (mut live, agent, _folder) = ends_with_log(postcard::to_allocvec(&log.encode()).unwrap());
    assert_eq!(live.run(), StopReason::Ended(Termination::Exited(3)));
    assert_eq!(live.events, ["Ends.begin(how=5)", "#exit(status=3)"]);
    assert_eq!(live.target.current_thread(), 7);
    agent.join().unwrap();
}

#[test]
fn malformed_log_at_the_end_is_an_error() {
    let (mut live, agent, _folder) = ends_with_log(b"no log".to_vec());
    let result = live.target.resume(&ResumeMode::Continue);
    let Err(TargetError::Control(message)) = result else { panic!("{result:?}") };
    assert_eq!(message, "malformed replay log from the agent");
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
fn running_program_can_be_attached_and_detached() {
    let mut child = waits();
    let mut catalog = EventCatalog::default();
    declare(&mut catalog, EventKind::Before, "Waits.tick", &["this", "number"]);
    declare(&mut catalog, EventKind::Write, "Waits.ticks", &["ret"]);
    let target = JavaTarget::attach(child.id() as i32).unwrap();
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
    let Err(TargetError::Request(words)) = live.target.locals() else {
        panic!("locals of an attached program")
    };
    assert!(words.contains("invigil run"), "{words}");
    let Err(TargetError::Control(words)) = JavaTarget::attach(child.id() as i32) else {
        panic!("two tools at once")
    };
    assert!(words.contains("cannot load the agent"), "{words}");
    live.target.detach().unwrap();
    drop(live);
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "it runs on");
    // Other debuggers can attach repeatedly; objects keep their ids.
    for _ in 0..3 {
        let mut catalog = EventCatalog::default();
        declare(&mut catalog, EventKind::After, "Waits.tick", &["this"]);
        let (mut live, unknown) = Live::watch(JavaTarget::attach(child.id() as i32).unwrap(), catalog);
        assert!(unknown.is_empty(), "{unknown:?}");
        live.run_to("after Waits.tick(this=1)");
        live.run_to("after Waits.tick(this=1)");
        live.target.detach().unwrap();
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn attach_refuses_other_processes() {
    let mut sleep = Command::new("sleep").arg("30").spawn().unwrap();
    let Err(TargetError::Control(words)) = JavaTarget::attach(sleep.id() as i32) else {
        panic!("attached to sleep")
    };
    assert!(words.contains("not a Java virtual machine"), "{words}");
    assert!(sleep.try_wait().unwrap().is_none());
    sleep.kill().unwrap();
    sleep.wait().unwrap();
    assert!(
        matches!(JavaTarget::attach(i32::MAX), Err(TargetError::Control(words)) if words.contains("no process"))
    );
}

#[test]
fn output_is_complete_at_exit() {
    let (mut live, launch) = ends("return");
    live.run();
    assert_eq!(printed(&launch), "done\n");
}
