//! PEDL and MEDL scripts over a live target have the same results as properties.

use crate::session::common::{Messages, pushing, reasons};
use crate::session::fake_target::{Fake, Log, Op};
use invigil_expr::diag::SourceId;
use invigil_lang::medl::{self, MethodNaming};
use invigil_lang::pedl;
use invigil_monitor::event::EventCatalog;
use invigil_session::{RunOutcome, Session, SessionOptions};
use invigil_target::{ResumeMode, Termination};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

const PEDL: &str = "
MonScr Queue
  export event made, pushed;
  monmeth void queue_new(int, int);
  monmeth void queue_push(int, int);
  event made = startM(queue_new(int, int));
  event pushed = startM(queue_push(int, int));
End";

const MEDL: &str = r#"
ReqSpec Room
  import event made(int, int), pushed(int, int);
  var int count;
  var int size;
  property room = defined(size) => count <= size;
  alarm tenth = pushed when value(pushed, 1) % 10 == 9;
  made -> { size' = value(made, 1); count' = 0; print "a queue for " + size'; }
  pushed -> { count' = count + 1; }
End"#;

/// The same script without alarms and output.
const QUIET: &str = "
ReqSpec Room
  import event made(int, int), pushed(int, int);
  var int count;
  var int size;
  property room = defined(size) => count <= size;
  made -> { size' = value(made, 1); count' = 0; }
  pushed -> { count' = count + 1; }
End";

struct Test {
    session: Session,
    said: Rc<RefCell<Vec<String>>>,
    log: Rc<RefCell<Log>>,
}

/// A session with scripts, which are embedded if requested.
fn session(ops: Vec<Op>, medl: &str, embedded: bool) -> Test {
    let (script, problems) = pedl::parse(SourceId(0), PEDL);
    assert!(problems.is_empty(), "{problems:#?}");
    let (recogniser, problems) = pedl::lower(&script, &|_| None);
    let recogniser = recogniser.unwrap_or_else(|| panic!("{problems:#?}"));
    let (script, problems) = medl::parse(SourceId(1), medl);
    assert!(problems.is_empty(), "{problems:#?}");
    let (checker, problems) = medl::lower(&script, Some(&recogniser));
    let checker = checker.unwrap_or_else(|| panic!("{problems:#?}"));
    let mut catalog = EventCatalog::default();
    let watched = medl::connect(&recogniser, &checker, MethodNaming::Plain, false, &mut catalog).unwrap();
    let (fake, log) = Fake::new(ops);
    log.borrow_mut().embedded = embedded;
    let automata = watched.automata.into_iter().map(Arc::new).collect();
    let mut session = Session::new(Box::new(fake), automata, catalog, Vec::new(), SessionOptions::default());
    session.set_scripts(vec![watched.plan]).unwrap();
    let said = Rc::new(RefCell::new(Vec::new()));
    session.set_listener(Box::new(Messages(Rc::clone(&said))));
    Test { session, said, log }
}

fn go(session: &mut Session) -> RunOutcome {
    session.run(&ResumeMode::Continue).expect("it can be run")
}

#[test]
fn script_properties_and_alarms_suspend_target() {
    for embedded in [false, true] {
        stops(embedded);
    }
}

fn stops(embedded: bool) {
    let Test { mut session, said, log } = session(pushing(15, 40), MEDL, embedded);
    assert!(reasons(&go(&mut session))[0].starts_with("1: quiet -> raised (non-accepting) at "));
    assert_eq!(*said.borrow(), ["property 2: a queue for 15"]);
    assert_eq!(session.target().evaluate("i"), Ok("9".to_owned()));
    let first = session.take_checkpoint("after the tenth").unwrap();
    assert!(reasons(&go(&mut session))[0].starts_with("0: holds -> violated (non-accepting) at "));
    assert_eq!(session.target().evaluate("i"), Ok("15".to_owned()));
    // The same again from the checkpoint, which restores the scripts, too.
    session.restore_checkpoint(first).unwrap();
    assert!(reasons(&go(&mut session))[0].starts_with("0: holds -> violated (non-accepting) at "));
    assert_eq!(session.target().evaluate("i"), Ok("15".to_owned()));
    // An alarm is raised each time.
    for i in ["19", "29", "39"] {
        assert!(reasons(&go(&mut session))[0].starts_with("1: quiet -> raised"));
        assert_eq!(session.target().evaluate("i"), Ok(i.to_owned()));
    }
    assert_eq!(go(&mut session), RunOutcome::Ended(Termination::Exited(0)));
    assert_eq!(log.borrow().stops < 30, embedded, "{}", log.borrow().stops);
}

/// What happened, with the steps of the properties.
fn reported(session: &Session) -> Vec<String> {
    let all = session.events(session.event_range());
    all.iter().map(|past| format!("{} {} {:?}", past.event.index, past.event, past.steps)).collect()
}

#[test]
fn embedded_scripts_equal_scripts_in_session() {
    let [outside, inside] = [false, true].map(|embedded| {
        let Test { mut session, log, .. } = session(pushing(20_000, 20_100), QUIET, embedded);
        assert!(reasons(&go(&mut session))[0].starts_with("0: holds -> violated (non-accepting) at "));
        assert_eq!(log.borrow().stops < 5, embedded, "{}", log.borrow().stops);
        let (count, mut seen) = (session.event_count(), reported(&session));
        // The replay log does not keep all of them.
        seen.drain(..seen.len() - 4096);
        let kept = session.take_checkpoint("here").unwrap();
        assert_eq!(go(&mut session), RunOutcome::Ended(Termination::Exited(0)));
        let back = session.reverse_to(count + 7).unwrap();
        assert_eq!((back.event, back.divergence), (count + 7, None));
        assert_eq!(go(&mut session), RunOutcome::Ended(Termination::Exited(0)));
        let at_end = session.event_count();
        session.restore_checkpoint(kept).unwrap();
        assert_eq!(session.event_count(), count);
        assert_eq!(go(&mut session), RunOutcome::Ended(Termination::Exited(0)));
        assert_eq!(session.event_count(), at_end);
        let report = session.report();
        (count, seen, at_end, format!("{:?}", report.properties), report.violations.len())
    });
    assert_eq!(inside, outside);
}
