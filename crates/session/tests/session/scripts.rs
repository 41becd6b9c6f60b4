//! PEDL and MEDL over a live program: what they find is as what properties find.

use crate::common::{Said, pushing, reasons};
use crate::fake::{Fake, Log, Op};
use invigil_expr::diag::SourceId;
use invigil_lang::medl::{self, Names};
use invigil_lang::pedl;
use invigil_monitor::event::Catalog;
use invigil_session::subject::{Ending, Resume};
use invigil_session::{Options, Outcome, Session};
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

/// The same without alarms and words.
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

/// A session with scripts, which step inside the program if it says so.
fn session(ops: Vec<Op>, medl: &str, indoors: bool) -> Test {
    let (script, problems) = pedl::parse(SourceId(0), PEDL);
    assert!(problems.is_empty(), "{problems:#?}");
    let (recogniser, problems) = pedl::lower(&script, &|_| None);
    let recogniser = recogniser.unwrap_or_else(|| panic!("{problems:#?}"));
    let (script, problems) = medl::parse(SourceId(1), medl);
    assert!(problems.is_empty(), "{problems:#?}");
    let (checker, problems) = medl::lower(&script, Some(&recogniser));
    let checker = checker.unwrap_or_else(|| panic!("{problems:#?}"));
    let mut catalog = Catalog::default();
    let watched = medl::watch(&recogniser, &checker, Names::Plain, false, &mut catalog).unwrap();
    let (fake, log) = Fake::new(ops);
    log.borrow_mut().indoors = indoors;
    let automata = watched.automata.into_iter().map(Arc::new).collect();
    let mut session = Session::new(Box::new(fake), automata, catalog, Vec::new(), Options::default());
    session.set_scripts(vec![watched.plan]).unwrap();
    let said = Rc::new(RefCell::new(Vec::new()));
    session.set_listener(Box::new(Said(Rc::clone(&said))));
    Test { session, said, log }
}

fn go(session: &mut Session) -> Outcome {
    session.run(&Resume::Continue).expect("it can be run")
}

#[test]
fn properties_and_alarms_stop_the_program() {
    for indoors in [false, true] {
        stops(indoors);
    }
}

fn stops(indoors: bool) {
    let Test { mut session, said, log } = session(pushing(15, 40), MEDL, indoors);
    assert!(reasons(&go(&mut session))[0].starts_with("1: quiet -> raised (non-accepting) at "));
    assert_eq!(*said.borrow(), ["property 2: a queue for 15"]);
    assert_eq!(session.subject().print("i"), Ok("9".to_owned()));
    let first = session.checkpoint("after the tenth").unwrap();
    assert!(reasons(&go(&mut session))[0].starts_with("0: holds -> violated (non-accepting) at "));
    assert_eq!(session.subject().print("i"), Ok("15".to_owned()));
    // The same again, from the checkpoint: the scripts were brought back, too.
    session.restore(first).unwrap();
    assert!(reasons(&go(&mut session))[0].starts_with("0: holds -> violated (non-accepting) at "));
    assert_eq!(session.subject().print("i"), Ok("15".to_owned()));
    // An alarm is raised each time.
    for i in ["19", "29", "39"] {
        assert!(reasons(&go(&mut session))[0].starts_with("1: quiet -> raised"));
        assert_eq!(session.subject().print("i"), Ok(i.to_owned()));
    }
    assert_eq!(go(&mut session), Outcome::Ended(Ending::Exited(0)));
    assert_eq!(log.borrow().stops < 30, indoors, "{}", log.borrow().stops);
}

/// What happened, with the steps of the properties.
fn told(session: &Session) -> Vec<String> {
    let all = session.events(session.remembered());
    all.iter().map(|past| format!("{} {} {:?}", past.event.index, past.event, past.steps)).collect()
}

#[test]
fn inside_they_find_what_they_find_outside() {
    let [outside, inside] = [false, true].map(|indoors| {
        let Test { mut session, log, .. } = session(pushing(20_000, 20_100), QUIET, indoors);
        assert!(reasons(&go(&mut session))[0].starts_with("0: holds -> violated (non-accepting) at "));
        assert_eq!(log.borrow().stops < 5, indoors, "{}", log.borrow().stops);
        let (count, mut seen) = (session.event_count(), told(&session));
        // Inside not all of them are kept.
        seen.drain(..seen.len() - 4096);
        let kept = session.checkpoint("here").unwrap();
        assert_eq!(go(&mut session), Outcome::Ended(Ending::Exited(0)));
        let back = session.back(count + 7).unwrap();
        assert_eq!((back.event, back.diverged), (count + 7, None));
        assert_eq!(go(&mut session), Outcome::Ended(Ending::Exited(0)));
        let at_end = session.event_count();
        session.restore(kept).unwrap();
        assert_eq!(session.event_count(), count);
        assert_eq!(go(&mut session), Outcome::Ended(Ending::Exited(0)));
        assert_eq!(session.event_count(), at_end);
        let report = session.report();
        (count, seen, at_end, format!("{:?}", report.properties), report.violations.len())
    });
    assert_eq!(inside, outside);
}
