//! Channels, and the handling of undelivered data.

use invigil_mac::{BufferedSender, Channel, Connection, Sink, StreamFormat, WaitPolicy};
use invigil_monitor::mac::{EventGroup, Interface};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

fn names() -> Interface {
    Interface { events: vec!["e".into()], conditions: vec![] }
}

fn at(time: i64) -> EventGroup {
    let mut group = EventGroup::default();
    group.begin(time);
    group.event(0);
    group
}

fn waiting(patience: u64) -> WaitPolicy<'static> {
    WaitPolicy { timeout: Duration::from_millis(patience), stop: &|| false, notify: &|_| {} }
}

#[test]
fn idle_sender_flushes_buffer() {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let mut delivery = BufferedSender::new(StreamFormat::Lines, Connection::Unix(ours), 1 << 20, None);
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

/// Everything was sent, but the other side closed the socket without reading it: `finish` reports this.
#[test]
fn unread_data_is_reported() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut delivery = BufferedSender::new(StreamFormat::Lines, Connection::Unix(ours), 1, None);
    delivery.names(&names()).unwrap();
    delivery.group(&at(5)).unwrap();
    drop(theirs);
    let done = delivery.finish();
    assert!(!done.is_complete(), "{done:?}");
}

#[test]
fn undelivered_instants_are_saved_to_file() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept.mac");
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut delivery =
        BufferedSender::new(StreamFormat::Bytes, Connection::Unix(ours), 1 << 20, Some(kept.clone()));
    delivery.names(&names()).unwrap();
    delivery.group(&at(1)).unwrap();
    delivery.group(&at(2)).unwrap();
    drop(theirs);
    delivery.idle();
    delivery.group(&at(3)).unwrap();
    let done = delivery.finish();
    assert_eq!((done.sent, done.lost, done.saved), (0, 3, 3), "{done:?}");
    let text = std::fs::read_to_string(kept).unwrap();
    assert_eq!(text, "recognised 1\nevent e\nbegin\n1 e\n2 e\n3 e\nend 3\n");
}

#[test]
fn channels_round_trip_through_display() {
    for text in ["-", "run.mac", "tcp:127.0.0.1:80", "tcp-listen:[::1]:80", "unix:/tmp/a:b", "unix-listen:s"]
    {
        assert_eq!(text.parse::<Channel>().unwrap().to_string(), text);
    }
    for text in ["", "tcp:", "tcp:x", "tcp::80", "tcp-listen:70000", "unix:", "unix-listen:"] {
        assert!(text.parse::<Channel>().is_err(), "{text}");
    }
}

#[test]
fn early_connection_waits_for_server() {
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
fn waiting_stops_on_time_out_or_request() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let begun = Instant::now();
    let words = Channel::Unix(path.clone()).open(&waiting(100)).unwrap_err();
    assert!(words.contains("no server listens there") && begun.elapsed() < Duration::from_secs(3), "{words}");
    let stopped = WaitPolicy { timeout: Duration::ZERO, stop: &|| true, notify: &|_| {} };
    let words = Channel::UnixListen(path.clone()).open(&stopped).unwrap_err();
    assert!(words.contains("stopped before the other side connected"), "{words}");
    assert!(!path.exists());
}

/// The socket of a killed process is replaced; one in use is an error.
#[test]
fn left_over_sockets_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let words = Channel::UnixListen(path.clone()).open(&waiting(0)).unwrap_err();
    assert!(words.contains("choose another address"), "{words}");
    drop(listener);
    assert!(path.exists());
    let stopped = WaitPolicy { timeout: Duration::ZERO, stop: &|| true, notify: &|_| {} };
    let words = Channel::UnixListen(path).open(&stopped).unwrap_err();
    assert!(words.contains("stopped before"), "{words}");
}
