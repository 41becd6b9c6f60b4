//! The published properties [JFMP17, Jak19]: each compiles as printed, and gives the described verdicts on a few
//! events.

use crate::prop::common::{FIXTURES, show};
use invigil_expr::diag::{Diagnostic, Sources};
use invigil_expr::value::Value;
use invigil_lang::{prop, report};
use invigil_monitor::event::{Event, EventCatalog, EventKind};
use invigil_monitor::interactive::InteractiveMonitor;
use invigil_monitor::verdict::Verdict::{self, Accepting, NonAccepting, Undecided};
use std::sync::Arc;

/// The functions file of the queue properties.
const FUNCTIONS: &str = "def sink_reached():\n    print(\"Overflow or underflow detected!\")\n";

/// A monitored published property.
struct Session {
    watch: InteractiveMonitor,
    catalog: EventCatalog,
    /// The diagnostics when it was loaded.
    remarks: String,
}

impl Session {
    fn new(name: &str) -> Session {
        let (_, text) = FIXTURES.iter().find(|(known, _)| *known == name).expect("a fixture");
        let (mut sources, mut catalog) = (Sources::default(), EventCatalog::default());
        let file = sources.add(format!("{name}.prop"), *text);
        let functions = sources.add("functions.py", FUNCTIONS);
        let (property, diagnostics) = prop::parse(file, text);
        assert!(diagnostics.is_empty(), "{}", show(text, &diagnostics));
        let (automaton, diagnostics) =
            prop::lower::lower(name, &property, &[(functions, FUNCTIONS)], &mut catalog);
        let remarks = report::render(&sources, &diagnostics, false);
        assert!(!diagnostics.iter().any(Diagnostic::is_error), "{remarks}");
        Session { watch: InteractiveMonitor::new(Arc::new(automaton.expect("compiles"))), catalog, remarks }
    }

    /// Applies an event with parameters by name.
    fn apply_kind(&mut self, kind: EventKind, name: &str, given: &[(&str, Value)]) -> Option<Verdict> {
        let symbol = self.catalog.find(name, kind).expect("an event of the property");
        let params = &self.catalog.get(symbol).expect("known").params;
        for (name, _) in given {
            assert!(params.iter().any(|param| param.name == *name), "no parameter {name}");
        }
        let value =
            |name: &str| given.iter().find(|(known, _)| *known == name).map_or(Value::UNSET, |(_, v)| *v);
        let params: Vec<Value> = params.iter().map(|param| value(&param.name)).collect();
        let applied = self.watch.apply(&Event { id: symbol, params: &params, text: "" });
        assert_eq!(applied.missing, None);
        assert_eq!(self.watch.fault(), None);
        applied.verdict
    }

    fn apply(&mut self, name: &str, given: &[(&str, i64)]) -> Option<Verdict> {
        let given: Vec<_> = given.iter().map(|(name, value)| (*name, Value::int(*value))).collect();
        self.apply_kind(EventKind::implied_by(name), name, &given)
    }

    fn states(&self) -> Vec<&str> {
        self.watch.current_states().collect()
    }

    fn value(&self, name: &str) -> String {
        let slices = self.watch.slices();
        slices.show(self.watch.env_value(slices.root().expect("a root"), name).expect("a value"))
    }
}

#[test]
fn published_properties_compile() {
    for (name, _) in FIXTURES {
        let remarks = Session::new(name).remarks;
        let headlines: Vec<&str> = remarks.lines().filter(|line| line.starts_with("warning")).collect();
        let twice =
            "warning: state `in_get_cmp_str_init_s_not_null` is declared twice: the transitions are merged";
        let expected: &[&str] = match name {
            "zsh" => &[twice, "warning: `import` is not allowed in blocks: this line is ignored"],
            "zsh_article" => &[twice],
            "raft4" => &["warning: `try` without `except`: all errors in it are ignored"],
            _ => &[],
        };
        assert_eq!(headlines, expected, "{remarks}");
    }
}

// ---- queues ----------------------------------------------------------------------------------------------

#[test]
fn queue_overflow_is_violation() {
    let mut session = Session::new("queue");
    assert_eq!(session.apply("queue_new", &[("queue", 7), ("size", 16)]), Some(Accepting));
    for n in 1..16 {
        assert_eq!(session.apply("queue_push", &[("queue", 7)]), Some(Accepting));
        assert_eq!(session.watch.printed(), [format!("nb elem: {n}")]);
    }
    assert_eq!(session.apply("queue_push", &[("queue", 7)]), Some(NonAccepting), "the sixteenth");
    assert_eq!(session.watch.printed(), ["Overflow or underflow detected!"]);
    assert_eq!(session.states(), ["init", "sink"]);
}

#[test]
fn queues_are_separate_slices() {
    let mut session = Session::new("queue");
    session.apply("queue_new", &[("queue", 1), ("size", 3)]);
    session.apply("queue_new", &[("queue", 2), ("size", 3)]);
    assert_eq!(session.apply("queue_push", &[("queue", 1)]), Some(Accepting));
    assert_eq!(session.apply("queue_pop", &[("queue", 1)]), Some(Accepting));
    assert_eq!(session.apply("queue_push", &[("queue", 1)]), Some(Accepting));
    assert_eq!(session.apply("queue_pop", &[("queue", 2)]), Some(NonAccepting), "an underflow");
    assert_eq!(session.apply("queue_push", &[("queue", 1)]), Some(Accepting));
    assert_eq!(session.states(), ["init", "sink", "queue_ready"]);
}

#[test]
fn overflow_names_its_producer() {
    let mut session = Session::new("queue_producers");
    session.apply("queue_new", &[("queue", 1), ("size", 2)]);
    assert_eq!(session.apply("queue_push", &[("queue", 1), ("prod_id", 4)]), Some(Accepting));
    assert_eq!(session.apply("queue_push", &[("queue", 1), ("prod_id", 5)]), Some(NonAccepting));
    assert_eq!(session.watch.printed(), ["5 made 1 overflow!", "Overflow or underflow detected!"]);
}

// ---- Zsh -------------------------------------------------------------------------------------------------

/// Completion starts, `s` is set to null, and `itype_end` is called with it.
#[test]
fn zsh_null_argument_is_violation() {
    for (name, null) in [("zsh", Value::int(0)), ("zsh", Value::NONE), ("zsh_article", Value::int(0))] {
        let mut session = Session::new(name);
        assert_eq!(session.apply("get_comp_string", &[]), Some(Accepting));
        assert_eq!(session.apply_kind(EventKind::Write, "s", &[("s", Value::int(4096))]), Some(Accepting));
        assert_eq!(session.apply_kind(EventKind::Write, "s", &[("s", null)]), Some(Accepting));
        assert_eq!(session.apply_kind(EventKind::Before, "itype_end", &[("ptr", null)]), Some(NonAccepting));
    }
}

/// The two published versions differ in which of the two states is called "not null"; the thesis swaps them, and with
/// them the condition for the backtrace.
#[test]
fn zsh_property_variants_differ() {
    for (name, after_null, after_other) in [
        ("zsh", "in_get_cmp_str_init_s_not_null", "in_get_cmp_str_init_s_null"),
        ("zsh_article", "in_get_cmp_str_init_s_null", "in_get_cmp_str_init_s_not_null"),
    ] {
        let mut session = Session::new(name);
        session.apply("get_comp_string", &[]);
        let before = session.watch.checkpoint();
        session.apply_kind(EventKind::Write, "s", &[("s", Value::int(0))]);
        assert_eq!(session.states(), [after_null]);
        let told_null = (session.watch.printed().to_vec(), session.watch.commands().to_vec());
        session.watch.restore(before).unwrap();
        session.apply_kind(EventKind::Write, "s", &[("s", Value::int(4096))]);
        assert_eq!(session.states(), [after_other]);
        let told_other = (session.watch.printed().to_vec(), session.watch.commands().to_vec());
        let (shown, traced) = if name == "zsh" { (told_null, told_other) } else { (told_other, told_null) };
        assert!(shown.0[0].starts_with("s = ") && shown.1.is_empty());
        assert!(traced.0.is_empty() && traced.1 == ["backtrace"]);
    }
}

#[test]
fn zsh_other_argument_is_accepted() {
    let mut session = Session::new("zsh");
    session.apply("get_comp_string", &[]);
    session.apply_kind(EventKind::Write, "s", &[("s", Value::int(4096))]);
    assert_eq!(session.apply("itype_end", &[("ptr", 4096)]), Some(Accepting));
    assert_eq!(session.watch.printed(), ["called itype_end with non null"]);
    assert_eq!(session.watch.commands(), ["backtrace"]);
    assert_eq!(session.states(), ["in_get_cmp_str_init_s_null"]);
    assert_eq!(session.apply("get_comp_string", &[]), Some(Accepting));
    assert_eq!(session.states(), ["in_get_cmp_str_init"]);
}

// ---- Raft ------------------------------------------------------------------------------------------------

/// `RaftConsensus.printElectionState` on a node: term, role (0 follower, 1 candidate, 2 leader) and the node that it
/// considers the leader.
fn election(session: &mut Session, node: i64, term: i64, role: i64, leader: i64) -> Option<Verdict> {
    let all =
        [("ecid", node), ("currentTerm", term), ("state", role), ("leaderId", leader), ("serverId", node)];
    session.apply("RaftConsensus.printElectionState", &all)
}

#[test]
fn raft_agreement_verdict_matches_thesis() {
    let mut session = Session::new("raft1");
    assert_eq!(election(&mut session, 1, 1, 1, 0), Some(Undecided), "nobody leads yet");
    assert_eq!(session.value("currentLeaderId"), "None");
    assert_eq!(election(&mut session, 1, 1, 2, 1), Some(Undecided));
    assert_eq!(election(&mut session, 2, 1, 0, 1), Some(Undecided));
    assert_eq!((session.value("highestTerm"), session.value("currentLeaderId")), ("1".into(), "1".into()));
    assert_eq!(election(&mut session, 2, 0, 2, 2), Some(Undecided), "a term that is over");
    assert_eq!(
        election(&mut session, 3, 1, 2, 1),
        Some(Undecided),
        "leads, and takes another for the leader"
    );
    assert_eq!(election(&mut session, 3, 1, 0, 2), Some(NonAccepting));
    assert_eq!(session.states(), ["bad"]);
}

#[test]
fn raft_termination_verdict_matches_thesis() {
    let mut session = Session::new("raft2");
    for node in 1..=3 {
        assert_eq!(session.apply("#join", &[("ecid", node)]), Some(Undecided));
    }
    assert_eq!(session.value("ecid_known"), "{1, 2, 3}");
    assert_eq!(election(&mut session, 1, 1, 2, 1), Some(Undecided));
    assert_eq!(election(&mut session, 2, 1, 0, 1), Some(Undecided));
    assert_eq!(election(&mut session, 2, 1, 0, 1), Some(Undecided), "twice is once");
    assert_eq!(election(&mut session, 3, 1, 1, 0), Some(Undecided), "knows no leader");
    assert_eq!(election(&mut session, 3, 1, 0, 1), Some(Accepting));
    assert_eq!(session.states(), ["ok"]);
    // Another term: everything is open again.
    assert_eq!(election(&mut session, 1, 2, 0, 3), Some(Undecided));
    assert_eq!((session.states(), session.value("ecid_seen")), (vec!["init"], "{1}".into()));
    assert_eq!(session.apply("#leave", &[("ecid", 2)]), Some(Undecided));
    assert_eq!(election(&mut session, 3, 2, 2, 3), Some(Accepting), "two are left, and both have seen it");
}

#[test]
fn raft_integrity_verdict_matches_thesis() {
    let vote = |session: &mut Session, term, candidate| {
        session.apply("RaftConsensus.updateLogMetadata", &[("currentTerm", term), ("votedFor", candidate)])
    };
    let mut session = Session::new("raft3");
    assert_eq!(vote(&mut session, 1, 0), Some(Undecided), "votes for nobody");
    assert_eq!(session.value("votes"), "set()");
    assert_eq!(vote(&mut session, 1, 2), Some(Undecided));
    assert_eq!(election(&mut session, 2, 1, 2, 2), Some(Undecided));
    assert_eq!(vote(&mut session, 2, 3), Some(Undecided), "another term: the votes count anew");
    assert_eq!(session.value("votes"), "{3}");
    assert_eq!(election(&mut session, 1, 2, 0, 3), Some(Undecided));
    assert_eq!(election(&mut session, 2, 2, 2, 2), Some(NonAccepting), "got votes in term 1 only");
    let mut session = Session::new("raft3");
    assert_eq!(election(&mut session, 1, 1, 2, 1), Some(NonAccepting), "no vote at all");
}

#[test]
fn raft_single_leader_verdict_matches_thesis() {
    let elect = |session: &mut Session, node, term| {
        session.apply("RaftConsensus.startNewElection", &[("prgm", node), ("currentTerm", term)])
    };
    let lead = |session: &mut Session, node, term| {
        session.apply("RaftConsensus.becomeLeader", &[("prgm", node), ("currentTerm", term)])
    };
    let step_down = |session: &mut Session, node, term| {
        session.apply("RaftConsensus.stepDown", &[("prgm", node), ("newTerm", term)])
    };
    let log = |session: &mut Session, node, term, role| {
        let all = [("prgm", node), ("currentTerm", term), ("state", role)];
        session.apply("RaftConsensus.updateLogMetadata", &all)
    };
    let mut session = Session::new("raft4");
    for node in 1..=3 {
        session.apply("#join", &[("prgm", node)]);
    }
    assert_eq!((session.value("knownPrms"), session.states()), ("3".into(), vec!["init"]));
    assert_eq!(lead(&mut session, 1, 1), None, "before an election nobody asks");
    assert_eq!(elect(&mut session, 1, 1), Some(Undecided));
    assert_eq!(session.states(), ["waiting_for_leader"]);
    assert_eq!(
        step_down(&mut session, 2, 1),
        Some(Undecided),
        "no leader in the table: the error is ignored"
    );
    assert_eq!(lead(&mut session, 1, 1), Some(Undecided));
    assert_eq!((session.states(), session.value("leader")), (vec!["leader_elected"], "{1: 1}".into()));
    session.apply("#leave", &[("prgm", 3)]);
    assert_eq!((session.value("knownPrms"), session.states()), ("2".into(), vec!["leader_elected"]));
    let elected = session.watch.checkpoint();

    // A second one in the same term.
    assert_eq!(lead(&mut session, 2, 1), Some(NonAccepting));
    assert_eq!(session.states(), ["several_leaders"]);

    // A second one, as the log has it.
    session.watch.restore(elected).unwrap();
    assert_eq!(log(&mut session, 1, 1, 2), Some(Undecided), "the one we know");
    assert_eq!(log(&mut session, 2, 1, 2), Some(NonAccepting));

    // Another one after the first has stepped down, in either way.
    session.watch.restore(elected).unwrap();
    assert_eq!(step_down(&mut session, 1, 1), Some(Undecided));
    assert_eq!((session.states(), session.value("leader")), (vec!["waiting_for_leader"], "{1: None}".into()));
    assert_eq!(lead(&mut session, 2, 1), Some(Undecided));
    assert_eq!(log(&mut session, 2, 1, 0), Some(Undecided));
    assert_eq!((session.states(), session.value("leader")), (vec!["leader_elected"], "{1: None}".into()));
    assert_eq!(log(&mut session, 3, 1, 2), Some(Undecided));
    assert_eq!(session.value("leader"), "{1: 3}");

    // In another term.
    assert_eq!(elect(&mut session, 2, 2), Some(Undecided));
    assert_eq!(
        elect(&mut session, 3, 1),
        Some(Undecided),
        "an old one: the guard fails, the last transition serves"
    );
    assert_eq!((session.states(), session.value("highestTerm")), (vec!["waiting_for_leader"], "2".into()));
    assert_eq!(lead(&mut session, 2, 2), Some(Undecided));
}
