//! Syntax trees of the published properties.

use crate::prop::common::{FIXTURES, good, shape};
use invigil_expr::diag::SourceId;
use invigil_lang::prop::{self, ast::Acceptance, ast::Property};
use invigil_monitor::event::{EventKind, ParamSource, ParamType};

fn fixture(name: &str) -> Property {
    let (_, text) = FIXTURES.iter().find(|(n, _)| *n == name).expect("a fixture of that name");
    good(text)
}

fn states(property: &Property) -> Vec<&str> {
    property.states.iter().map(|state| state.name.text.as_str()).collect()
}

#[test]
fn queue_property_parses() {
    let property = fixture("queue");
    assert_eq!(property.slice_on[0].text, "queue");
    assert_eq!(property.initialization.as_ref().unwrap().dedent().text, "N = 0\nmaxSize = 0");
    assert_eq!(states(&property), ["init", "sink", "queue_ready"]);

    let new = &property.states[0].transitions[0];
    assert_eq!((new.event.kind, new.event.name.text.as_str()), (EventKind::Before, "queue_new"));
    assert_eq!(new.event.params[1].source, ParamSource::Name("size".into()));
    assert_eq!(new.event.params[1].ty.unwrap().0, ParamType::Int);
    assert_eq!(new.guard.as_ref().unwrap().dedent().text, "maxSize = size - 1");
    assert_eq!(new.success.as_ref().unwrap().target.as_ref().unwrap().text, "queue_ready");

    let sink = &property.states[1];
    assert_eq!(sink.acceptance.unwrap().0, Acceptance::NonAccepting);
    assert_eq!(sink.action.as_ref().unwrap().text, "sink_reached()");
    assert!(sink.transitions.is_empty());

    let push = &property.states[2].transitions[0];
    let success = push.success.as_ref().unwrap();
    assert_eq!(success.block.as_ref().unwrap().dedent().text, "N = N + 1\nprint(\"nb elem: \" + str(N))");
    assert_eq!(push.failure.as_ref().unwrap().target.as_ref().unwrap().text, "sink");
}

#[test]
fn queue_property_with_producers_parses() {
    let property = fixture("queue_producers");
    assert_eq!(states(&property), ["init", "queue_ready", "sink"]);
    let push = &property.states[1].transitions[0];
    assert_eq!(push.event.params[1].name.text, "prod_id");
    let failure = push.failure.as_ref().unwrap();
    assert_eq!(
        failure.block.as_ref().unwrap().dedent().text,
        r#"print("%d made %d overflow!"% (prod_id, queue))"#
    );
}

#[test]
fn zsh_properties_parse() {
    for name in ["zsh", "zsh_article"] {
        let property = fixture(name);
        assert_eq!(property.states.len(), 6, "one of them twice");
        assert_eq!(property.states[3].name.text, property.states[4].name.text);
        let write = &property.states[1].transitions[0].event;
        assert_eq!((write.kind, write.name.text.as_str()), (EventKind::Write, "s"));
        assert_eq!(write.params[0].name.text, "s");
        assert_eq!(property.states[1].transitions[1].event.kind, EventKind::Before);
        assert_eq!(property.states[5].acceptance.unwrap().0, Acceptance::NonAccepting);
    }
    assert_eq!(fixture("zsh").initialization.unwrap().dedent().text, "import gdb");
}

#[test]
fn raft_properties_parse() {
    let agreed = fixture("raft1");
    let event = &agreed.states[0].transitions[0].event;
    assert_eq!(event.name.text, "RaftConsensus.printElectionState");
    let names: Vec<_> = event.params.iter().map(|param| param.name.text.as_str()).collect();
    assert_eq!(names, ["ecid", "currentTerm", "state", "leaderId", "serverId"]);
    assert_eq!(event.params[0].source, ParamSource::Program);

    let consensus = fixture("raft2");
    assert_eq!(consensus.states[0].transitions[0].event.kind, EventKind::Join);
    assert_eq!(consensus.states[0].transitions[1].event.name.text, "#leave");
    assert_eq!(consensus.states[1].imports[0].text, "init");
    assert_eq!(consensus.states[1].acceptance.unwrap().0, Acceptance::Accepting);

    assert_eq!(states(&fixture("raft3")), ["init", "bad"]);

    let leader = fixture("raft4");
    assert_eq!(states(&leader), ["init", "waiting_for_leader", "leader_elected", "several_leaders"]);
    assert_eq!(leader.initialization.as_ref().unwrap().dedent().text.lines().last(), Some("leader = {}"));
    let join = leader.states[0].transitions[0].success.as_ref().unwrap();
    assert!(join.target.is_none() && join.block.is_some());
    let waiting = &leader.states[1];
    assert_eq!((waiting.imports[0].text.as_str(), waiting.transitions.len()), ("init", 4));
    let update = waiting.transitions[2].success.as_ref().unwrap().block.as_ref().unwrap().dedent();
    assert!(update.text.contains("elif state == 2: # LEADER\n    l = leader.get"));
    assert!(leader.states[2].transitions.is_empty());
}

#[test]
fn formatting_preserves_published_properties() {
    for (name, text) in FIXTURES {
        let once = prop::format(SourceId(0), text).expect(name);
        assert_eq!(shape(&good(&once)), shape(&good(text)), "{name}");
        assert_eq!(prop::format(SourceId(0), &once).unwrap(), once, "{name}");
        let comments = |text: &str| text.matches('#').count();
        assert_eq!(comments(&once), comments(text), "{name}");
    }
}

#[test]
fn line_ends_and_byte_order_mark_are_ignored() {
    for (name, text) in FIXTURES {
        let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        assert_eq!(shape(&good(&windows)), shape(&good(text)), "{name}");
        assert_eq!(
            prop::format(SourceId(0), &windows).unwrap(),
            prop::format(SourceId(0), text).unwrap(),
            "{name}"
        );
    }
}
