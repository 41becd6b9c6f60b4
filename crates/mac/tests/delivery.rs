//! Channels, and what becomes of what cannot be delivered.

use invigil_mac::{Channel, Connection, Delivery, Format, Sink, Waiting};
use invigil_monitor::mac::{Group, Interface};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

fn names() -> Interface {
    Interface { events: vec!["e".into()], conditions: vec![] }
}

fn at(time: i64) -> Group {
    let mut group = Group::default();
    group.begin(time);
    group.event(0);
    group
}

fn waiting(patience: u64) -> Waiting<'static> {
    Waiting { patience: Duration::from_millis(patience), stop: &|| false, tell: &|_| {} }
}

#[test]
fn what_is_sent_arrives_when_there_is_nothing_else_to_do() {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let mut delivery = Delivery::new(Format::Lines, Connection::Unix(ours), 1 << 20, None);
    let mut buffer = [0; 256];
    delivery.names(&names()).unwrap();
    let read = theirs.read(&mut buffer).unwrap();
    assert_eq!(&buffer[..read], b"recognised 1\nevent e\nbegin\n", "names are not held back");
    delivery.group(&at(5)).unwrap();
    theirs.set_nonblocking(true).unwrap();
    assert!(theirs.read(&mut buffer).is_err(), "an instant is");
    delivery.idle();
    let read = theirs.read(&mut buffer).unwrap();
    assert_eq!(&buffer[..read], b"5 e\n");
    let reader = std::thread::spawn(move || {
        theirs.set_nonblocking(false).unwrap();
        let mut rest = String::new();
        theirs.read_to_string(&mut rest).map(|_| rest)
    });
    let done = delivery.finish();
    assert!(done.is_complete() && done.sent == 1, "{done:?}");
    assert_eq!(reader.join().unwrap().unwrap(), "end 1\n");
}

/// Everything had left the buffer, and the other side went away without reading it: that shows at the end.
#[test]
fn what_was_never_read_is_told() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut delivery = Delivery::new(Format::Lines, Connection::Unix(ours), 1, None);
    delivery.names(&names()).unwrap();
    delivery.group(&at(5)).unwrap();
    drop(theirs);
    let done = delivery.finish();
    assert!(!done.is_complete(), "{done:?}");
}

#[test]
fn what_cannot_be_delivered_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept.mac");
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut delivery = Delivery::new(Format::Bytes, Connection::Unix(ours), 1 << 20, Some(kept.clone()));
    delivery.names(&names()).unwrap();
    delivery.group(&at(1)).unwrap();
    delivery.group(&at(2)).unwrap();
    drop(theirs);
    delivery.idle();
    delivery.group(&at(3)).unwrap();
    let done = delivery.finish();
    assert_eq!((done.sent, done.lost, done.kept), (0, 3, 3), "{done:?}");
    let text = std::fs::read_to_string(kept).unwrap();
    assert_eq!(text, "recognised 1\nevent e\nbegin\n1 e\n2 e\n3 e\nend 3\n");
}

#[test]
fn channels_are_shown_as_they_are_written() {
    for text in ["-", "run.mac", "tcp:127.0.0.1:80", "tcp-listen:[::1]:80", "unix:/tmp/a:b", "unix-listen:s"]
    {
        assert_eq!(text.parse::<Channel>().unwrap().to_string(), text);
    }
    for text in ["", "tcp:", "tcp:x", "tcp::80", "tcp-listen:70000", "unix:", "unix-listen:"] {
        assert!(text.parse::<Channel>().is_err(), "{text}");
    }
}

#[test]
fn who_connects_early_waits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listening = Channel::UnixListen(path.clone());
    let early = std::thread::spawn(move || {
        Channel::Unix(path).create(&waiting(5_000)).map(|mut to| to.write_all(b"hello"))
    });
    std::thread::sleep(Duration::from_millis(60));
    let mut said = String::new();
    let mut from = listening.open(&waiting(0)).unwrap();
    early.join().unwrap().unwrap().unwrap();
    from.read_to_string(&mut said).unwrap();
    assert_eq!(said, "hello");
}

#[test]
fn waiting_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let begun = Instant::now();
    let words = Channel::Unix(path.clone()).open(&waiting(100)).unwrap_err();
    assert!(words.contains("nobody listens there") && begun.elapsed() < Duration::from_secs(3), "{words}");
    let stopped = Waiting { patience: Duration::ZERO, stop: &|| true, tell: &|_| {} };
    let words = Channel::UnixListen(path.clone()).open(&stopped).unwrap_err();
    assert!(words.contains("stopped before the other side came"), "{words}");
    assert!(!path.exists());
}

/// A socket that a killed process left is no obstacle; one that is in use is.
#[test]
fn sockets_that_are_left_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let words = Channel::UnixListen(path.clone()).open(&waiting(0)).unwrap_err();
    assert!(words.contains("choose another one"), "{words}");
    drop(listener);
    assert!(path.exists());
    let stopped = Waiting { patience: Duration::ZERO, stop: &|| true, tell: &|_| {} };
    let words = Channel::UnixListen(path).open(&stopped).unwrap_err();
    assert!(words.contains("stopped before"), "{words}");
}
