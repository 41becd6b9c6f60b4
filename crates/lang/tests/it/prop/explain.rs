//! The summaries of the published properties, and of one with every lint.

use crate::prop::common::{FIXTURES, show};
use invigil_expr::diag::{Diagnostic, Sources};
use invigil_lang::prop;
use invigil_lang::prop::explain::{Explanation, LintLevel, explain};
use invigil_lang::prop::picture::BranchKind;
use invigil_monitor::event::EventCatalog;
use invigil_monitor::verdict::Verdict;

const FUNCTIONS: &str = "def sink_reached():\n    print(\"sink\")\n";

fn explained(name: &str, text: &str) -> Explanation {
    let (mut sources, mut catalog) = (Sources::default(), EventCatalog::default());
    let file = sources.add(format!("{name}.prop"), text);
    let functions = sources.add("functions.py", FUNCTIONS);
    let (property, diagnostics) = prop::parse(file, text);
    assert!(diagnostics.is_empty(), "{}", show(text, &diagnostics));
    let (automaton, diagnostics) =
        prop::lower::lower(name, &property, &[(functions, FUNCTIONS)], &mut catalog);
    assert!(!diagnostics.iter().any(Diagnostic::is_error), "{}", show(text, &diagnostics));
    explain(&property, &automaton.expect("compiles"), &catalog, &sources)
}

fn fixture(name: &str) -> Explanation {
    let (_, text) = FIXTURES.iter().find(|(known, _)| *known == name).expect("a fixture");
    explained(name, text)
}

/// Every edge of the graph as `from -> to: label`, failures with `-x`.
fn edges(explanation: &Explanation) -> Vec<String> {
    let graph = explanation.graph();
    let name = |at: usize| graph.nodes[at].name.as_str();
    let arrow = |branch| if branch == BranchKind::Success { "->" } else { "-x" };
    let lines = graph.edges.iter().map(|edge| {
        format!("{} {} {}: {}", name(edge.from), arrow(edge.branch), name(edge.to), edge.label.join(" "))
    });
    lines.collect()
}

fn warnings(explanation: &Explanation) -> Vec<&str> {
    let warnings = explanation.lints.iter().filter(|lint| lint.level == LintLevel::Warning);
    warnings.map(|lint| lint.text.as_str()).collect()
}

#[test]
fn queue_property_summary_is_complete() {
    let said = fixture("queue");
    assert_eq!((said.name.as_str(), said.slice_on.join(",")), ("queue", "queue".into()));
    let variables: Vec<_> = said.variables.iter().map(|v| (v.name.as_str(), v.value.as_deref())).collect();
    assert_eq!(variables, [("N", Some("0")), ("maxSize", Some("0"))]);

    let new = &said.events[0];
    assert_eq!(new.event, "queue_new");
    let parameters: Vec<_> =
        new.parameters.iter().map(|p| (p.name.as_str(), p.ty, p.binds.as_deref(), p.is_read)).collect();
    assert_eq!(
        parameters,
        [("queue", None, Some("queue"), false), ("size", Some("int"), None, true)],
        "the slice parameter is given, whether a block reads it or not"
    );

    let verdicts: Vec<_> =
        said.states.iter().map(|s| (s.name.as_str(), s.verdict, s.is_initial, s.is_settled)).collect();
    assert_eq!(
        verdicts,
        [
            ("init", Verdict::Accepting, true, false),
            ("sink", Verdict::NonAccepting, false, true),
            ("queue_ready", Verdict::Accepting, false, false)
        ]
    );
    let needs = |name| said.state(name).unwrap().needs.iter().map(|n| n.to_string()).collect::<Vec<_>>();
    assert_eq!(needs("init"), ["queue_new(queue, size)"]);
    assert_eq!(needs("queue_ready"), ["queue_push(queue)", "queue_pop(queue)"]);
    assert!(needs("sink").is_empty(), "nothing is asked of the program any more");
    assert_eq!(said.state("sink").unwrap().action.as_deref(), Some("sink_reached()"));
    assert_eq!(said.state("sink").unwrap().place, "queue.prop:18");

    let init = &said.state("init").unwrap().transitions[0];
    let guard = init.guard.as_ref().unwrap();
    assert!(guard.is_update);
    assert_eq!(guard.text, "maxSize = size - 1");
    let push = &said.state("queue_ready").unwrap().transitions[0];
    assert_eq!(push.guard.as_ref().unwrap().text, "return N < maxSize");
    assert_eq!(push.success.as_ref().unwrap().target.as_deref(), Some("queue_ready"));
    assert_eq!(
        push.success.as_ref().unwrap().block.as_deref(),
        Some("N = N + 1\nprint(\"nb elem: \" + str(N))")
    );
    assert_eq!(push.failure.as_ref().unwrap().target.as_deref(), Some("sink"));
    assert_eq!(push.place, "queue.prop:21");

    assert!(said.can_be_violated && said.is_monitorable);
    assert!(said.shadowed.is_empty() && said.unreachable().next().is_none() && said.lints.is_empty());
    assert_eq!(
        edges(&said),
        [
            "init -> queue_ready: queue_new(queue, size) { maxSize = size - 1 }",
            "queue_ready -> queue_ready: queue_push(queue) [N < maxSize]",
            "queue_ready -x sink: queue_push(queue) [not: N < maxSize]",
            "queue_ready -> queue_ready: queue_pop(queue) [N > 0]",
            "queue_ready -x sink: queue_pop(queue) [not: N > 0]"
        ]
    );
    let sink = &said.graph().nodes[1];
    assert_eq!((sink.name.as_str(), sink.note.join("|")), ("sink", "sink_reached()".into()));
}

#[test]
fn states_returned_by_blocks_are_reachable() {
    let said = fixture("raft4");
    assert!(said.states.iter().all(|state| state.is_reachable));
    let waiting = said.state("waiting_for_leader").unwrap();
    let taken_over: Vec<_> = waiting.transitions.iter().map(|t| t.imported_from.as_deref()).collect();
    assert_eq!(taken_over, [Some("init"), Some("init"), Some("init"), None, None, None, None]);
    let become_leader = &waiting.transitions[3];
    let success = become_leader.success.as_ref().unwrap();
    assert_eq!(success.returns, ["several_leaders"]);
    assert!(edges(&said).iter().any(|edge| {
        edge.starts_with("waiting_for_leader -> several_leaders: RaftConsensus.becomeLeader")
            && edge.ends_with("if its block returns it")
    }));
    let join = &said.state("init").unwrap().transitions[0];
    assert_eq!(join.success.as_ref().unwrap().target, None, "stays");
    assert!(edges(&said).contains(&"init -> init: #join".to_owned()));
    assert!(said.can_be_violated && said.is_monitorable);
    assert_eq!(warnings(&said), [""; 0]);
}

#[test]
fn state_declared_twice_is_merged() {
    let said = fixture("zsh");
    let twice = said.state("in_get_cmp_str_init_s_not_null").unwrap();
    assert_eq!(twice.transitions.len(), 5);
    assert_eq!(said.shadowed.len(), 2);
    let shadowed = &said.shadowed[0];
    assert_eq!((shadowed.state.as_str(), shadowed.event.as_str()), (twice.name.as_str(), "get_comp_string"));
    assert_eq!((shadowed.place.as_str(), shadowed.by.as_str()), ("zsh.prop:100", "zsh.prop:93"));
    let again = &said.shadowed[1];
    assert_eq!((again.event.as_str(), again.same_condition), ("write s", true));
    assert_eq!((again.place.as_str(), again.by.as_str()), ("zsh.prop:105", "zsh.prop:74"));
    assert_eq!(
        twice.transitions.iter().map(|t| t.is_live).collect::<Vec<_>>(),
        [true, true, true, false, false]
    );
    assert_eq!(
        warnings(&said),
        [
            "in state `in_get_cmp_str_init_s_not_null`, this transition on `get_comp_string` is never taken: \
             the one at zsh.prop:93 is always taken",
            "in state `in_get_cmp_str_init_s_not_null`, this transition on `write s` is never taken: \
             the one at zsh.prop:74 has the same condition"
        ]
    );
}

#[test]
fn unviolable_property_is_linted() {
    let said = fixture("raft2");
    assert!(!said.can_be_violated && !said.is_monitorable, "`ok` and `init` take turns for ever");
    assert_eq!(said.lints[0].level, LintLevel::Note);
    assert_eq!(said.lints[0].text, "no state is non-accepting: the property can never be violated");
    let names: Vec<_> = said.variables.iter().map(|v| (v.name.as_str(), v.value.as_deref())).collect();
    assert_eq!(
        names,
        [("ecid_known", Some("set()")), ("ecid_seen", Some("set()")), ("highestTerm", Some("-1"))]
    );
}

#[test]
fn every_lint_is_reported() {
    let said = explained(
        "odd",
        "slice on a, b
initialization { N = 0 }
state init non-accepting {
    transition { event open(a, b) success used }
    transition { event open(a, b) { return N > 0 } success lost }
    transition { event tick() { N = N + 1 } failure lost }
}
state used accepting {
    transition {
        event close(a) {
            if N > 1:
                return False
            return True
        }
        success done
        failure { print(N) }
    }
    transition { event write(b, a, n) { return n > 1234567890123 and n < 9999999999999999 } success used }
}
state done accepting final {
    transition { event open(a, b) success lost }
}
state lost non-accepting
",
    );
    assert_eq!(said.unreachable().map(|state| state.name.as_str()).collect::<Vec<_>>(), ["lost"]);
    assert_eq!(
        warnings(&said),
        [
            "`init` is non-accepting: the property is violated before any event",
            "state `lost` is never reached",
            "state `done` is final: slices are dropped there, and its transitions are never tried",
            "in state `init`, this transition on `open` is never taken: the one at odd.prop:4 is always taken",
        ]
    );
    let notes: Vec<_> = said.lints.iter().filter(|r| r.level == LintLevel::Note).map(|r| &r.text).collect();
    assert_eq!(
        notes,
        [
            "`tick` does not bind `a`, `b`: it is delivered to every slice",
            "`close` does not bind `b`: it is delivered to every slice with the same `a`",
        ]
    );
    assert_eq!(
        edges(&said),
        [
            "init -> used: open(a, b)",
            "init -> init: tick { N = N + 1 }",
            "used -> done: close(a) [if N > 1: …]",
            "used -x used: close(a) [not: if N > 1: …]",
            "used -> used: write(b, a, n) [n > 1234567890123 and n < 9999999999999…]",
        ]
    );
    assert!(!said.state("used").unwrap().is_settled, "a slice may be forgotten and start again");
}

#[test]
fn unreachable_violation_is_linted() {
    let said = explained("idle", "state init accepting\nstate bad non-accepting\n");
    assert_eq!(
        warnings(&said),
        [
            "no non-accepting state can be reached: the property can never be violated",
            "state `bad` is never reached"
        ]
    );
    assert!(said.state("init").unwrap().is_settled && said.is_monitorable);
    assert!(said.events.is_empty() && said.variables.is_empty());
}

#[test]
fn published_properties_can_be_explained_and_drawn() {
    for (name, _) in FIXTURES {
        let said = fixture(name);
        let graph = said.graph();
        assert_eq!(graph.nodes.iter().filter(|node| node.is_initial).count(), 1);
        for state in &said.states {
            assert!(graph.to_svg().contains(&format!("data-state=\"{}\"", state.name)));
        }
    }
}
