//! The history, the report and the recording.

use crate::common::*;
use crate::fake::{Arg, Op};
use invigil_check::{Quiet, check};
use invigil_expr::diag::SourceId;
use invigil_lang::prop;
use invigil_monitor::event::Catalog;
use invigil_monitor::verdict::Verdict;
use invigil_session::subject::Ending;
use invigil_session::{Options, Recorder};
use invigil_trace::{Format, Input};
use std::io::Write;
use std::sync::{Arc, Mutex};

#[test]
fn a_violation_is_told_with_its_path_and_the_stack() {
    let mut test = session(pushing(2, 9), &[("queue", QUEUE)], &[], Options::default());
    test.go();
    let report = test.session.report();
    assert_eq!(report.properties[0].verdict(), Verdict::NonAccepting);
    assert_eq!((report.events, report.is_over), (4, false));
    let violation = &report.violations[0];
    assert_eq!((violation.thread, violation.undone), (7, false));
    let finding = &violation.finding;
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
    assert_eq!((report.ending, report.is_over), (Some(Ending::Exited(0)), true));
}

#[test]
fn a_property_that_is_violated_before_anything_happens() {
    let property = "state init non-accepting { transition { event queue_new() success fine } }
        state fine accepting";
    let mut test = session(pushing(2, 9), &[("p", property)], &[], Options::default());
    let started = test.session.start().unwrap();
    assert_eq!(reasons(&started.outcome.unwrap()), ["0: init (non-accepting) at 0"]);
    assert_eq!(test.session.violations().len(), 1);
}

#[test]
fn only_the_recent_past_is_kept() {
    let options = Options { history: 1000, ..Options::default() };
    let mut test = session(pushing(9999, 5000), &[("queue", QUEUE)], &[], options);
    test.go();
    let kept = test.session.remembered();
    assert_eq!(*kept.end(), 5001);
    assert!((1000..3000).contains(&(kept.end() - kept.start())), "{kept:?}");
    let last = test.session.events(5001..=5001);
    assert_eq!(last[0].event.index, 5001);
    assert_eq!(last[0].steps[0].from, "queue_ready");
    assert!(test.session.events(1..=5).is_empty());
    let slice = last[0].steps[0].slice;
    let (path, untold) = test.session.path(0, slice);
    assert_eq!((path.len(), untold), (50, None));
}

#[test]
fn going_back_beyond_what_is_kept() {
    let options = Options { history: 1, ..Options::default() };
    let mut test = session(pushing(9999, 5000), &[("queue", QUEUE)], &[], options);
    test.session.start().unwrap();
    let start = test.session.checkpoint("").unwrap();
    test.go();
    test.session.restore(start).unwrap();
    assert_eq!(test.session.event_count(), 0);
    assert!(test.session.remembered().is_empty());
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
fn what_is_recorded_gives_the_same_verdicts() {
    let property = QUEUE.replace("queue_push(queue)", "queue_push(arg 1 as queue, arg 2 as c)");
    for format in [Format::JsonLines, Format::Csv, Format::Line] {
        let mut test = session(pushing(2, 5), &[("queue", &property)], &[""], Options::default());
        let file = File::default();
        let recorder = Recorder::new(Box::new(file.clone()), format, test.session.catalog()).unwrap();
        test.session.set_recorder(recorder);
        test.go();
        let text = file.0.lock().unwrap().clone();
        let mut catalog = Catalog::default();
        let (parsed, _) = prop::parse(SourceId(0), &property);
        let automaton = prop::lower::lower("queue", &parsed, &[], &mut catalog).0.unwrap();
        let open = || vec![Input::reader("trace", std::io::Cursor::new(text.clone()))];
        let options = invigil_check::Options::default();
        let outcome = check(&[automaton], &catalog, open, &options, &mut Quiet);
        let live = test.session.report();
        let words = String::from_utf8_lossy(&text).into_owned();
        assert_eq!(outcome.properties[0].violations, 1, "{words}");
        assert_eq!(outcome.properties[0].steps, live.properties[0].steps, "{words}");
        let recorded = outcome.findings[0].event.as_ref().unwrap();
        let told = live.violations[0].finding.event.as_ref().unwrap();
        assert_eq!((recorded.index, recorded.to_string()), (told.index, told.to_string()));
    }
}

#[test]
fn a_recording_that_fails_does_not_end_the_run() {
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
    assert!(test.take().contains(&"session: the recording ends here: the disk is full".to_owned()));
}

#[test]
fn a_violation_of_a_slice_that_is_forgotten_at_once() {
    let property = "slice on file\ninitialization { n = 0 }
        state init accepting { transition { event close(file) success { n = 1 } bad } }
        state bad non-accepting final";
    let ops = vec![
        Op::Call("close", vec![("file", Arg::Number(3))]),
        Op::Call("close", vec![("file", Arg::Number(4))]),
    ];
    let mut test = session(ops, &[("files", property)], &[""], Options::default());
    test.go();
    let told: Vec<(String, Vec<(&str, usize)>)> = test
        .session
        .violations()
        .iter()
        .map(|violation| {
            let finding = &violation.finding;
            let path = finding.path.iter().map(|step| (step.state.as_str(), step.env.len())).collect();
            (finding.slice[0].value.as_ref().unwrap().text.clone(), path)
        })
        .collect();
    // What the slice remembered went with it.
    let path = vec![("init", 1), ("bad", 0)];
    assert_eq!(told, [("3".to_owned(), path.clone()), ("4".to_owned(), path)]);
}
