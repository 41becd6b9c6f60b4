//! Scripts (PEDL and MEDL) embedded in the target behave as in the debugger.

use super::common::{BOTH, c, mechanisms};
use invigil_expr::diag::SourceId;
use invigil_lang::medl::{self, MethodNaming};
use invigil_lang::pedl;
use invigil_monitor::event::EventCatalog;
use invigil_native::{Launch, NativeTarget, ProbeMode, Stream};
use invigil_session::{RunOutcome, Session, SessionOptions};
use invigil_target::{BreakpointKind, BreakpointSpec, Owner, ResumeMode, Termination};
use invigil_test_support::language;
use invigil_test_support::{Program, Rng};
use std::sync::Arc;

/// Tanks that are filled and emptied by people with names. The first argument is the number of rounds, the second how
/// the program ends.
const TANKS: &str = r#"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define KEPT __attribute__((noinline, noclone))
#define LONG ".skip 16, 0x90"
long level;
KEPT long fill(int by, char *who) { level += by; __asm__ volatile(LONG :: "r"(who) : "memory"); return level; }
KEPT void drain(double by) { level -= (long) by; __asm__ volatile(LONG ::: "memory"); }
KEPT void name(char *who) { __asm__ volatile(LONG :: "r"(who) : "memory"); }
int main(int argc, char **argv) {
    long calls = atol(argv[1]);
    char *how = argv[2];
    for (long i = 0; i < calls; i++) {
        char *who = i % 2 ? "the one of us who is odd" : "even";
        name(who);
        fill(2, who);
        drain(1.5);
        if (i % 10 == 9) drain(10.25);
    }
    if (!strcmp(how, "again")) execl(argv[0], argv[0], argv[1], "", (char *) 0);
    if (!strcmp(how, "crash")) *(volatile int *) 8 = 1;
    if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
    fill(1000, "last");
    fill(1, "after the last");
    return 0;
}
"#;

const PEDL: &str = "
MonScr Tanks
  export event filled, emptied, named;
  export condition high, inside, mine;
  valueabstract;
  monmeth long fill(int);
  monmeth void drain(double);
  monmeth void name(String);
  event filled = endM(fill(int));
  event emptied = startM(drain(double)) when value(startM(drain(double)), 0) > 1.0;
  event named = startM(name(String));
  condition high = value(endM(fill(int)), 1) > 100;
  condition mine = value(startM(name(String)), 0) == \"the one of us who is odd\";
  condition inside = InM(fill(int));
End";

const MEDL: &str = "
ReqSpec Levels
  import event filled(int, long), emptied(double), named(String);
  import condition high, inside, mine;
  var long fills, odd;
  var double drained;
  property low = !high;
  property drains = defined(drained) => drained < 15000.0;
  property counted = defined(odd) => odd <= fills && fills <= 2 * odd + 2;
  alarm within = filled when inside;
  filled -> { fills' = defined(fills) ? fills + 1 : 1; }
  named when mine -> { odd' = defined(odd) ? odd + 1 : 1; }
  emptied -> { drained' = (defined(drained) ? drained : 0.0) + value(emptied, 0); }
End";

/// More calls than the replay log holds.
const MANY: &str = "8000";

/// A program that is about to start.
fn launch(built: &Program, args: &[&str], probes: ProbeMode) -> Launch {
    let mut launch = Launch::new(&built.path).args(args);
    launch.stdout = Stream::Null;
    launch.stderr = Stream::Null;
    launch.probes = probes;
    launch
}

/// A session of a program under scripts, and under a property if one is given. It stops at violations.
fn scripted(launch: &Launch, (pedl, medl): (&str, &str), property: Option<&str>) -> Session {
    let (script, problems) = pedl::parse(SourceId(0), pedl);
    assert!(problems.is_empty(), "{problems:#?}");
    let (recogniser, problems) = pedl::lower(&script, &|_| None);
    let recogniser = recogniser.unwrap_or_else(|| panic!("{problems:#?}"));
    let (script, problems) = medl::parse(SourceId(1), medl);
    assert!(problems.is_empty(), "{problems:#?}");
    let (checker, problems) = medl::lower(&script, Some(&recogniser));
    let checker = checker.unwrap_or_else(|| panic!("{problems:#?}"));
    let mut catalog = EventCatalog::default();
    let mut automata = Vec::new();
    if let Some(property) = property {
        automata.push(language::property("beside", property, &mut catalog));
    }
    let watched = medl::connect(&recogniser, &checker, MethodNaming::Plain, false, &mut catalog).unwrap();
    automata.extend(watched.automata);
    let target = NativeTarget::launch(launch).expect("the program starts");
    let automata = automata.into_iter().map(Arc::new).collect();
    let mut session =
        Session::new(Box::new(target), automata, catalog, Vec::new(), SessionOptions::default());
    session.set_scripts(vec![watched.plan]).expect("the scripts can be run");
    session.start().expect("the program has what the scripts are about");
    session
}

/// The state of a session as text, without times and thread ids, with the latest events.
fn visible_state(session: &mut Session, outcome: &RunOutcome) -> Vec<String> {
    let last = session.event_count();
    let past = session.events(last.saturating_sub(4000)..=last);
    let mut all: Vec<String> =
        past.iter().map(|past| format!("{} {} {:?}", past.event.index, past.event, past.steps)).collect();
    let report = session.report();
    all.extend(report.properties.iter().map(|property| format!("{property:?}")));
    all.extend(report.violations.iter().map(|violation| {
        let (finding, top) = (&violation.violation, violation.stack.first());
        let event = finding.event.as_ref().map(|event| (event.index, event.to_string()));
        format!("{} {} {} {event:?} {top:?}", finding.property, finding.from, finding.to)
    }));
    all.push(format!("{outcome:?}"));
    all
}

/// Runs to the end, with a stop at each violation. Returns the state at each stop.
fn run(session: &mut Session) -> Vec<Vec<String>> {
    let mut seen = Vec::new();
    loop {
        let outcome = session.run(&ResumeMode::Continue).unwrap();
        seen.push(visible_state(session, &outcome));
        if matches!(outcome, RunOutcome::Ended(_)) {
            assert!(!session.monitors_lost(), "what the scripts did is known");
            return seen;
        }
        seen.push(vec![session.target().current_location(), session.target().evaluate("level").unwrap()]);
    }
}

/// Whether there were events that the debugger did not receive.
fn has_unseen(session: &Session) -> bool {
    *session.event_range().start() > 1
}

#[test]
fn scripts_give_same_verdicts_stops_and_histories() {
    for level in ["-O0", "-O1"] {
        let built = c(TANKS, &[level]);
        let [inline, trap] = BOTH.map(|probes| {
            let mut session = scripted(&launch(&built, &[MANY, ""], probes), (PEDL, MEDL), None);
            let seen = run(&mut session);
            assert_eq!(has_unseen(&session), probes == ProbeMode::Inline);
            let by_probe = |(event, how): &(String, String)| event.starts_with('#') || how == "probe";
            let all = mechanisms(&mut session);
            assert_eq!(all.iter().all(by_probe), probes == ProbeMode::Inline, "{level} {all:?}");
            seen
        });
        // Too much was drained, and too much was filled in.
        assert_eq!(inline.len(), 5, "{:?}", inline.last());
        assert_eq!(inline, trap, "{level}");
    }
}

#[test]
fn scripts_work_where_no_probe_fits() {
    // A breakpoint of the user keeps the trap at a site.
    let built = c(TANKS, &["-O1"]);
    let [inline, trap] = BOTH.map(|probes| {
        let mut session = scripted(&launch(&built, &["3000", ""], probes), (PEDL, MEDL), None);
        let mut spec = BreakpointSpec::new(BreakpointKind::Location("name".to_owned()));
        spec.ignore = u64::MAX;
        session.target().set_breakpoint(Owner::User, &spec).unwrap();
        let seen = run(&mut session);
        if probes == ProbeMode::Inline {
            let all = mechanisms(&mut session);
            let is_trap =
                |name: &str| all.iter().any(|(event, how)| event == name && how.starts_with("trap"));
            assert!(is_trap("name") && !is_trap("drain"), "{all:?}");
            assert!(has_unseen(&session));
        }
        seen
    });
    assert_eq!(inline, trap);
}

#[test]
fn scripts_work_beside_property_with_prints_and_alarms() {
    let property = "
        initialization { n = 0 }
        state init accepting {
            transition { event drain() success { n = n + 1 } init }
            transition { event fill(arg 1 as by: int) { return by < 1000 } success init failure bad }
        }
        state bad non-accepting { transition { event fill() success init } }";
    let medl = "
        ReqSpec Words
          import event filled(int, long), named(String);
          import condition mine;
          var long fills;
          alarm thousand = filled when fills % 1000 == 999;
          filled -> { fills' = defined(fills) ? fills + 1 : 1; }
          filled when value(filled, 1) > 1000 -> { print \"filled \" + value(filled, 1) + \" by \" + value(named, 0); }
        End";
    let built = c(TANKS, &["-O1"]);
    let [inline, trap] = BOTH.map(|probes| {
        let launch = launch(&built, &[MANY, ""], probes);
        run(&mut scripted(&launch, (PEDL, medl), Some(property)))
    });
    assert_eq!(inline, trap);
    assert!(inline.len() > 16, "{}", inline.len());
}

#[test]
fn scripts_survive_checkpoints_and_breakpoints() {
    let built = c(TANKS, &["-O1"]);
    let [inline, trap] = BOTH.map(|probes| {
        let mut session = scripted(&launch(&built, &[MANY, ""], probes), (PEDL, MEDL), None);
        let mut spec = BreakpointSpec::new(BreakpointKind::Location("drain".to_owned()));
        (spec.ignore, spec.once) = (4000, true);
        session.target().set_breakpoint(Owner::User, &spec).unwrap();
        let mut seen = Vec::new();
        let outcome = session.run(&ResumeMode::Continue).unwrap();
        assert!(matches!(outcome, RunOutcome::Breakpoints(_)), "{outcome:?}");
        seen.push(visible_state(&mut session, &outcome));
        let kept = session.take_checkpoint("here").unwrap();
        for how in [ResumeMode::Instruction, ResumeMode::NextLine, ResumeMode::Line] {
            let outcome = session.run(&how).unwrap();
            seen.push(visible_state(&mut session, &outcome));
        }
        let first = session.run(&ResumeMode::Continue).unwrap();
        assert!(matches!(first, RunOutcome::Suspended(_)), "{first:?}");
        let before = (visible_state(&mut session, &first)[..4000].to_vec(), session.event_count());
        session.restore_checkpoint(kept).unwrap();
        let again = session.run(&ResumeMode::Continue).unwrap();
        assert!(matches!(again, RunOutcome::Suspended(_)), "{again:?}");
        assert_eq!((visible_state(&mut session, &again)[..4000].to_vec(), session.event_count()), before);
        let number = session.event_count() - 1000;
        let back = session.reverse_to(number).unwrap();
        assert_eq!((back.event, back.divergence), (number, None));
        seen.push(vec![session.target().current_location(), session.target().evaluate("level").unwrap()]);
        seen.extend(run(&mut session));
        seen
    });
    assert_eq!(inline, trap);
}

#[test]
fn scripts_keep_state_after_exit_and_exec() {
    let built = c(TANKS, &["-O1"]);
    for how in ["crash", "kill", "again"] {
        let [inline, trap] = BOTH.map(|probes| {
            let mut session = scripted(&launch(&built, &["3000", how], probes), (PEDL, MEDL), None);
            let mut seen = Vec::new();
            loop {
                let outcome = session.run(&ResumeMode::Continue).unwrap();
                seen.push(visible_state(&mut session, &outcome));
                if matches!(outcome, RunOutcome::Ended(_)) {
                    break;
                }
            }
            assert!(!session.monitors_lost());
            assert_eq!(has_unseen(&session), probes == ProbeMode::Inline, "{how}");
            seen
        });
        assert_eq!(inline, trap, "{how}");
    }
}

#[test]
fn scripts_that_read_time_get_event_times() {
    let source = r#"
        #include <unistd.h>
        __attribute__((noinline)) void open_it(int n) { __asm__ volatile(".skip 16, 0x90" :: "r"(n) : "memory"); }
        __attribute__((noinline)) void close_it(int n) { __asm__ volatile(".skip 16, 0x90" :: "r"(n) : "memory"); }
        int main(void) {
            for (int n = 0; n < 2000; n++) {
                open_it(n);
                if (n == 1234) usleep(600000);
                close_it(n);
            }
            return 0;
        }"#;
    let pedl = "
        MonScr
          export event begun, ended;
          monmeth void open_it(int);
          monmeth void close_it(int);
          event begun = startM(open_it(int));
          event ended = startM(close_it(int));
        End";
    let medl = "
        ReqSpec
          import event begun(int), ended(int);
          alarm late = ended when time(ended) - time(begun) >= 500;
        End";
    let built = c(source, &["-O1"]);
    for probes in BOTH {
        let mut session = scripted(&launch(&built, &[], probes), (pedl, medl), None);
        let outcome = session.run(&ResumeMode::Continue).unwrap();
        assert!(matches!(outcome, RunOutcome::Suspended(_)), "{outcome:?}");
        assert_eq!(session.target().evaluate("n").unwrap(), "1234", "{probes:?}");
        let outcome = session.run(&ResumeMode::Continue).unwrap();
        assert_eq!(outcome, RunOutcome::Ended(Termination::Exited(0)), "{probes:?}");
        let all = mechanisms(&mut session);
        assert_eq!(
            all.contains(&("open_it".to_owned(), "probe".to_owned())),
            probes == ProbeMode::Inline,
            "{all:?}"
        );
    }
}

#[test]
fn watched_variables_keep_scripts_in_debugger() {
    let pedl = "
        MonScr
          export event filled;
          export condition high;
          valueabstract;
          monmeth long fill(int);
          monobj long level;
          event filled = startM(fill(int));
          condition high = level > 100;
        End";
    let medl = "ReqSpec  import event filled(int);  import condition high;  property low = !high;  End";
    let built = c(TANKS, &["-O1"]);
    let [inline, trap] = BOTH.map(|probes| {
        let mut session = scripted(&launch(&built, &["50", ""], probes), (pedl, medl), None);
        let seen = run(&mut session);
        assert!(mechanisms(&mut session).iter().all(|(_, how)| how != "probe"));
        seen
    });
    assert_eq!(inline, trap);
    assert_eq!(inline.len(), 3);
}

#[test]
fn scripts_count_events_of_many_threads() {
    let source = r#"
        #include <pthread.h>
        __attribute__((noinline)) int work(int n) { __asm__ volatile("" : "+r"(n) :: "memory"); return n; }
        __attribute__((noinline)) void over(int n) { __asm__ volatile("" :: "r"(n) : "memory"); }
        static void *run(void *p) { for (int n = 0; n < 5000; n++) work(n); return 0; }
        int main(void) {
            pthread_t all[4];
            for (int n = 0; n < 4; n++) pthread_create(&all[n], 0, run, 0);
            for (int n = 0; n < 4; n++) pthread_join(all[n], 0);
            over(1);
            return 0;
        }"#;
    let pedl = "
        MonScr
          export event worked, done;
          monmeth int work(int);
          monmeth void over(int);
          event worked = endM(work(int));
          event done = startM(over(int));
        End";
    let medl = "
        ReqSpec
          import event worked(int, int), done(int);
          var long calls, sum;
          alarm right = done when calls == 20000 && sum == 4 * 12497500;
          worked -> { calls' = defined(calls) ? calls + 1 : 1; sum' = (defined(sum) ? sum : 0) + value(worked, 1); }
        End";
    let built = c(source, &["-O2", "-pthread"]);
    for probes in BOTH {
        let mut session = scripted(&launch(&built, &[], probes), (pedl, medl), None);
        let outcome = session.run(&ResumeMode::Continue).unwrap();
        assert!(matches!(outcome, RunOutcome::Suspended(_)), "{probes:?}: {outcome:?}");
        assert_eq!(session.event_count(), 20_002, "{probes:?}");
    }
}

/// Stack usage of the scripts: a probe uses at most four kilobytes.
#[test]
fn scripts_step_on_small_stack() {
    let source = r#"
        #include <string.h>
        #include <ucontext.h>
        #define ROOM 65536
        static unsigned char stack[ROOM];
        static ucontext_t here, there;
        __attribute__((noinline)) void begin(double x, char *who) { __asm__ volatile(".skip 16, 0x90" :: "r"(who) : "memory"); }
        __attribute__((noinline)) double work(int n) { __asm__ volatile(".skip 16, 0x90" ::: "memory"); return n * 3.1; }
        __attribute__((noinline)) void over(long used) { __asm__ volatile(".skip 16, 0x90" :: "r"(used) : "memory"); }
        static void run(void) {
            for (int n = 0; n < 10000; n++) {
                begin(n + 0.1, "somebody with a long name");
                work(n);
            }
        }
        int main(void) {
            memset(stack, 0xab, ROOM);
            getcontext(&there);
            there.uc_stack.ss_sp = stack;
            there.uc_stack.ss_size = ROOM;
            there.uc_link = &here;
            makecontext(&there, run, 0);
            swapcontext(&here, &there);
            long free = 0;
            while (stack[free] == 0xab) free++;
            over(ROOM - free);
            return 0;
        }"#;
    let pedl = "
        MonScr
          export event worked, done, begun;
          monmeth void begin(double, String);
          monmeth double work(int);
          monmeth void over(long);
          event begun = startM(begin(double, String));
          event worked = endM(work(int));
          event done = startM(over(long));
        End";
    let plain = "
        ReqSpec
          import event begun(double, String), worked(int, double), done(long);
          var double sum;
          var long begins;
          alarm all = done when value(done, 0) > 0;
          property some = defined(sum) => begins > 0 && value(begun, 1) != \"\";
          begun -> { begins' = (defined(begins) ? begins : 0) + 1; }
          worked -> { sum' = (defined(sum) ? sum : 0.0) + value(worked, 1) % 7.0; }
        End";
    let words = r#"
        ReqSpec
          import event begun(double, String), worked(int, double), done(long);
          var String words;
          alarm all = done when value(done, 0) > 0;
          property some = defined(words) => words != "";
          begun -> { words' = "from " + value(begun, 0) + " by " + value(begun, 1); }
          worked -> { words' = words + " to " + value(worked, 1); }
        End"#;
    let built = c(source, &["-O2"]);
    for (medl, most) in [(plain, 4096), (words, 6144)] {
        let [inline, trap] = BOTH.map(|probes| {
            let mut session = scripted(&launch(&built, &[], probes), (pedl, medl), None);
            let outcome = session.run(&ResumeMode::Continue).unwrap();
            assert!(matches!(outcome, RunOutcome::Suspended(_)), "{outcome:?}");
            let all = mechanisms(&mut session);
            assert_eq!(all.iter().all(|(_, how)| how == "probe"), probes == ProbeMode::Inline, "{all:?}");
            session.target().evaluate("used").unwrap().parse::<u64>().expect("a number")
        });
        assert!(inline > trap && inline - trap < most, "{inline} bytes, {trap} by the program itself");
    }
}

/// Makes the calls that its argument lists, a letter and a number each, as often as the other argument says.
const DRIVER: &str = r#"
#include <stdlib.h>
#define KEPT __attribute__((noinline, noclone))
KEPT long open_it(int n, char *who) { __asm__ volatile(".skip 16, 0x90" :: "r"(who) : "memory"); return n; }
KEPT double use(short n, double x) { __asm__ volatile(".skip 16, 0x90" ::: "memory"); return n + x; }
KEPT void tell(char *who, _Bool loud) { __asm__ volatile(".skip 16, 0x90" :: "r"(who), "r"(loud) : "memory"); }
KEPT void shut(long n) { if (n > 3) shut(n - 1); __asm__ volatile(".skip 16, 0x90" ::: "memory"); }
int main(int argc, char **argv) {
    static char *names[] = {"a", "b", "somebody with a long name", ""};
    for (long again = atol(argv[1]); again > 0; again--) {
        for (char *at = argv[2]; *at; at += 2) {
            int n = at[1] - '0';
            if (at[0] == 'o') open_it(n, names[n % 4]);
            if (at[0] == 'u') use(n, n / 4.0);
            if (at[0] == 't') tell(names[n % 4], n % 2);
            if (at[0] == 's') shut(n);
        }
    }
    return 0;
}
"#;

/// Random calls in random order.
#[test]
fn random_scripts_agree_with_traps() {
    let pedl = "
        MonScr Anything
          export event opened, used, reported, shut, deep;
          export condition loud, within, named;
          valueabstract;
          monmeth long open_it(int, String);
          monmeth double use(short, double);
          monmeth void tell(String, boolean);
          monmeth void shut(long);
          event opened = startM(open_it(int, String));
          event used = endM(use(short, double));
          event reported = startM(tell(String, boolean)) when value(startM(tell(String, boolean)), 0) != \"\";
          event shut = endM(shut(long));
          event deep = startM(shut(long)) when value(startM(shut(long)), 0) > 4;
          condition loud = value(startM(tell(String, boolean)), 1);
          condition within = InM(shut(long));
          condition named = value(opened, 1) == \"somebody with a long name\";
        End";
    let medl = r#"
        ReqSpec Anything
          import event opened, used, reported, shut, deep;
          import condition loud, within, named;
          import action stop;
          var long opens, uses;
          var double sum;
          var String last;
          condition usable = [opened, shut);
          event unusable = used when !usable;
          condition busy = [opened, shut) && !loud;
          property few = defined(uses) && defined(opens) => uses <= opens + 20;
          property quiet = within => !loud;
          property known = defined(last) => last != "b" || named;
          alarm wrong = unusable || end(busy) when named;
          alarm divided = used when 12 / (value(used, 0) - 3) > 5;
          opened -> { opens' = (defined(opens) ? opens : 0) + 1; }
          used -> { uses' = (defined(uses) ? uses : 0) + 1; sum' = (defined(sum) ? sum : 0.0) + value(used, 1); }
          reported -> { last' = value(reported, 0); }
          deep when sum > 40.0 -> { sum' = 0.0; print last + " at " + sum; invoke stop; }
        End"#;
    let built = c(DRIVER, &["-O1"]);
    let rng = Rng::new(1);
    let mut stops = 0;
    for round in 0..12 {
        let calls: String = (0..rng.below(40) + 10)
            .map(|_| format!("{}{}", ["o", "u", "u", "t", "s"][rng.below(5)], rng.below(8)))
            .collect();
        let again = if round % 3 == 0 { "300" } else { "7" };
        let [inline, trap] = BOTH.map(|probes| {
            let mut session = scripted(&launch(&built, &[again, &calls], probes), (pedl, medl), None);
            let mut seen = Vec::new();
            // There are many violations: check the first stop, and the end of a run without stops.
            for _ in 0..25 {
                let outcome = session.run(&ResumeMode::Continue).unwrap();
                let is_over = matches!(outcome, RunOutcome::Ended(_));
                seen.push(visible_state(&mut session, &outcome));
                if is_over {
                    break;
                }
                seen.push(vec![session.target().current_location()]);
            }
            seen
        });
        assert_eq!(inline, trap, "{again} times {calls}");
        stops += inline.len();
    }
    assert!(stops > 50, "{stops}");
}
