//! The history, the report and the recording.

use crate::session::common::*;
use crate::session::fake_target::{Arg, Op};
use invigil_check::{NoopListener, check};
use invigil_monitor::event::EventCatalog;
use invigil_monitor::verdict::Verdict;
use invigil_session::{Recorder, SessionOptions};
use invigil_target::Termination;
use invigil_test_support::language;
use invigil_trace::{Format, Input};
use std::io::Write;
use std::sync::{Arc, Mutex};

#[test]
fn violation_is_reported_with_path_and_stack() {
    let mut test = session(pushing(2, 9), &[("queue", QUEUE)], &[], SessionOptions::default());
    test.go();
    let report = test.session.report();
    assert_eq!(report.properties[0].verdict(), Verdict::NonAccepting);
    assert_eq!((report.events, report.has_ended), (4, false));
    let violation = &report.violations[0];
    assert_eq!((violation.thread, violation.undone), (7, false));
    let finding = &violation.violation;
    assert_eq!((finding.from.as_str(), finding.to.as_str()), ("queue_ready", "sink"));
    assert_eq!(finding.slice[0].value.as_ref().unwrap().text, "7");
    let path: Vec<String> = finding
        .path
        .iter()
        .map(|step| {
            let event = step.event.as_ref().map_or("start".into(), ToString::to_string);
            let env: Vec<String> = step.env.iter().map(|v| format!("{}={}", v.name, v.value)).collect();
            format!("{event} {} {}", step.state, env.join(" "))
        })
        .collect();
    assert_eq!(
        path,
        [
            "start init N=0 max=0",
            "queue_new(queue=7, size=2) queue_ready N=0 max=2",
            "queue_push(queue=7) queue_ready N=1 max=2",
            "queue_push(queue=7) queue_ready N=2 max=2",
            "queue_push(queue=7) sink N=2 max=2",
        ]
    );
    let frame = &violation.stack[0];
    assert_eq!(frame.frame.function, "queue_push");
    assert_eq!((frame.locals[0].name.as_str(), frame.locals[0].value.as_str()), ("i", "2"));
    test.go();
    let report = test.session.report();
    assert_eq!((report.termination, report.has_ended), (Some(Termination::Exited(0)), true));
}

#[test]
fn non_accepting_initial_state_is_a_violation_at_start() {
    let property = "state init non-accepting { transition { event queue_new() success fine } }
        state fine accepting";
    let mut test = session(pushing(2, 9), &[("p", property)], &[], SessionOptions::default());
    let started = test.session.start().unwrap();
    assert_eq!(reasons(&started.outcome.unwrap()), ["0: init (non-accepting) at 0"]);
    assert_eq!(test.session.violations().len(), 1);
}

#[test]
fn history_keeps_only_recent_events() {
    let options = SessionOptions { history: 1000, ..SessionOptions::default() };
    let mut test = session(pushing(9999, 5000), &[("queue", QUEUE)], &[], options);
    test.go();
    let kept = test.session.event_range();
    assert_eq!(*kept.end(), 5001);
    assert!((1000..3000).contains(&(kept.end() - kept.start())), "{kept:?}");
    let last = test.session.events(5001..=5001);
    assert_eq!(last[0].event.index, 5001);
    assert_eq!(last[0].steps[0].from, "queue_ready");
    assert!(test.session.events(1..=5).is_empty());
    let slice = last[0].steps[0].slice;
    let (path, omitted) = test.session.path(0, slice);
    assert_eq!((path.len(), omitted), (50, None));
}

#[test]
fn restore_before_kept_history_empties_it() {
    let options = SessionOptions { history: 1, ..SessionOptions::default() };
    let mut test = session(pushing(9999, 5000), &[("queue", QUEUE)], &[], options);
    test.session.start().unwrap();
    let start = test.session.take_checkpoint("").unwrap();
    test.go();
    test.session.restore_checkpoint(start).unwrap();
    assert_eq!(test.session.event_count(), 0);
    assert!(test.session.event_range().is_empty());
    test.go();
    assert_eq!(test.session.event_count(), 5001);
}

/// A file in memory.
#[derive(Clone, Default)]
struct File(Arc<Mutex<Vec<u8>>>);

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn recorded_trace_has_the_live_verdicts() {
    let property = QUEUE.replace("queue_push(queue)", "queue_push(arg 1 as queue, arg 2 as c)");
    for format in [Format::JsonLines, Format::Csv, Format::PlainLines] {
        let mut test = session(pushing(2, 5), &[("queue", &property)], &[""], SessionOptions::default());
        let file = File::default();
        let recorder = Recorder::new(Box::new(file.clone()), format, test.session.catalog()).unwrap();
        test.session.set_recorder(recorder);
        test.go();
        let text = file.0.lock().unwrap().clone();
        let mut catalog = EventCatalog::default();
        let automaton = language::property("queue", &property, &mut catalog);
        let open = || vec![Input::reader("trace", std::io::Cursor::new(text.clone()))];
        let options = invigil_check::CheckOptions::default();
        let outcome = check(&[automaton], &catalog, open, &options, &mut NoopListener);
        let live = test.session.report();
        let words = String::from_utf8_lossy(&text).into_owned();
        assert_eq!(outcome.properties[0].violations, 1, "{words}");
        assert_eq!(outcome.properties[0].steps, live.properties[0].steps, "{words}");
        let recorded = outcome.violations[0].event.as_ref().unwrap();
        let reported = live.violations[0].violation.event.as_ref().unwrap();
        assert_eq!((recorded.index, recorded.to_string()), (reported.index, reported.to_string()));
    }
}

#[test]
fn failed_recording_does_not_end_the_run() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the disk is full"))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let ops = vec![Op::Call("queue_new", vec![("queue", Arg::Number(1))]), Op::Call("queue_push", vec![])];
    let mut test = queue(ops, "");
    let recorder = Recorder::new(Box::new(Full), Format::JsonLines, test.session.catalog()).unwrap();
    test.session.set_recorder(recorder);
    test.go();
    assert!(test.take().contains(&"session: recording stopped: the disk is full".to_owned()));
}

#[test]
fn violation_of_immediately_dropped_slice_is_reported() {
    let property = "slice on file\ninitialization { n = 0 }
        state init accepting { transition { event close(file) success { n = 1 } bad } }
        state bad non-accepting final";
    let ops = vec![
        Op::Call("close", vec![("file", Arg::Number(3))]),
        Op::Call("close", vec![("file", Arg::Number(4))]),
    ];
    let mut test = session(ops, &[("files", property)], &[""], SessionOptions::default());
    test.go();
    let reported: Vec<(String, Vec<(&str, usize)>)> = test
        .session
        .violations()
        .iter()
        .map(|violation| {
            let finding = &violation.violation;
            let path = finding.path.iter().map(|step| (step.state.as_str(), step.env.len())).collect();
            (finding.slice[0].value.as_ref().unwrap().text.clone(), path)
        })
        .collect();
    // The environment was dropped with the slice.
    let path = vec![("init", 1), ("bad", 0)];
    assert_eq!(reported, [("3".to_owned(), path.clone()), ("4".to_owned(), path)]);
}
