//! Examples 20 to 26 of [EH18 §6]: the light switch, centralized and decentralized; monitorability; compatibility.

use crate::specification_common::{messages, network, specification, system, trace};
use invigil_decent::memory::Atom;
use invigil_decent::spec::equivalence::{Comparison, compare, compare_formula};
use invigil_decent::spec::monitorability::Monitorability;
use invigil_decent::spec::placement::{Placement, place};
use invigil_decent::spec::reference::{verdict, verdicts};
use invigil_decent::spec::{AutomatonSpec, EdgeSpec, MonitorBody, Specification, StateSpec};
use invigil_decent::system::{ComponentId, MonitorId, System};
use invigil_ltl::Budget;
use invigil_ltl::moore::Truth;
use invigil_ltl::syntax::SyntaxTree;

const ROOM: &str = "lswitch: s, bulb: l";
const M0: MonitorId = MonitorId(0);
const M1: MonitorId = MonitorId(1);

/// Both automata of the figure, as written.
fn drawn() -> Specification {
    let mut specification = Specification::new(system(ROOM));
    let edge = |label: &str, to| EdgeSpec { label: Some(SyntaxTree::parse(label).unwrap()), to };
    let state = |name: &str, verdict, edges| StateSpec { name: name.to_owned(), verdict, edges };
    let m0 = AutomatonSpec {
        states: vec![
            state("q0", Truth::Unknown, vec![edge("!s", 0), edge("s", 1)]),
            state("q1", Truth::Unknown, vec![edge("!s", 0), edge("s & @m1", 1), edge("s & !@m1", 2)]),
            state("q2", Truth::False, vec![]),
        ],
    };
    let m1 = AutomatonSpec {
        states: vec![
            state("q0", Truth::Unknown, vec![edge("l", 1), EdgeSpec { label: None, to: 2 }]),
            state("q1", Truth::True, vec![]),
            state("q2", Truth::False, vec![]),
        ],
    };
    let [switch, bulb] = ["lswitch", "bulb"].map(|name| specification.system.find_component(name));
    specification.root = specification.add("m0", MonitorBody::Automaton(m0), switch).ok();
    specification.add("m1", MonitorBody::Automaton(m1), bulb).unwrap();
    specification
}

fn written() -> Specification {
    specification(system(ROOM), &[("m0", "lswitch", "G(s -> X(@m1 U !s))"), ("m1", "bulb", "l")])
}

#[test]
fn example_22_the_light_switch_in_two_parts() {
    let (drawn, written) = (drawn(), written());
    assert_eq!(network(&drawn).monitors[0].automaton, network(&written).monitors[0].automaton);
    let network = network(&drawn);
    assert_eq!(network.references(M0), [M1]);
    assert_eq!(network.references(M1), []);
    assert_eq!((network.depth(M0), network.depth(M1)), (1, 0));
    let s = drawn.system.find_proposition("s").unwrap();
    assert_eq!(drawn.atoms(M0), [Atom::Observed(s), Atom::Verdict(M1)]);
    assert_eq!(drawn.observed(M0).len(), 2);
}

#[test]
fn example_23_a_reference_is_evaluated_from_where_it_stands() {
    let specification = drawn();
    let network = network(&specification);
    // The second instant decides: the switch is still pressed and the light is off.
    for text in ["s. s.", "sl s."] {
        let trace = trace(&specification.system, text);
        let said = verdicts(&network, &trace);
        assert_eq!((said.of(M0, 1), said.of(M1, 2)), (Truth::False, Truth::False), "{text}");
        assert_eq!(verdict(&network, &trace[..1]), Truth::Unknown);
    }
    let holds = trace(&specification.system, "s. sl .. .l s. sl");
    assert_eq!(verdict(&network, &holds), Truth::Unknown);
    // A missing observation leaves all states possible, and so does an unknown reference.
    let mut blind = trace(&specification.system, "s. s.");
    blind[1].retain(|(proposition, _)| specification.system.proposition_name(*proposition) != "l");
    assert_eq!(verdicts(&network, &blind).of(M1, 2), Truth::Unknown);
    assert_eq!(verdict(&network, &blind), Truth::Unknown);
}

#[test]
fn split_light_switch_is_equivalent_to_the_whole() {
    let specification = drawn();
    let whole = SyntaxTree::parse("G(s -> X(l U !s))").unwrap();
    let same = compare_formula(&specification.system, &network(&specification), &whole, Budget::default());
    assert_eq!(same, Ok(Comparison::Same));
    let central =
        crate::specification_common::specification(system("sys: s l"), &[("g", "sys", "G(s -> X(l U !s))")]);
    assert_eq!(
        compare(&central.system, &network(&central), &network(&written()), Budget::default()),
        Comparison::Same
    );
}

#[test]
fn example_24_and_25_the_light_switch_is_monitorable() {
    let central =
        crate::specification_common::specification(system("sys: s l"), &[("g", "sys", "G(s -> X(l U !s))")]);
    assert_eq!(network(&central).monitors[0].automaton.monitorable(), [true; 3]);
    assert_eq!(network(&central).monitorability(&central.system, Budget::default()), Monitorability::Always);
    let parts = drawn();
    assert_eq!(network(&parts).monitorability(&parts.system, Budget::default()), Monitorability::Always);
    // The structural criterion is used if the exact check exceeds its budget.
    let small = Budget { states: 1, ..Budget::default() };
    assert!(matches!(network(&parts).monitorability(&parts.system, small), Monitorability::ByStructure(_)));
}

#[test]
fn example_20_parts_that_are_not_monitorable() {
    let split = specification(
        system("a: p"),
        &[("whole", "", "@one & @two"), ("one", "", "G F p"), ("two", "", "!(G F p)")],
    );
    let found = network(&split).monitorability(&split.system, Budget::default());
    assert!(
        matches!(found, Monitorability::NotMonitorable { monitor: MonitorId(1 | 2), after: Some(after) } if after.is_empty())
    );
    let whole = specification(system("a: p"), &[("whole", "", "G F p & !(G F p)")]);
    assert_eq!(network(&whole).monitorability(&whole.system, Budget::default()), Monitorability::Always);
}

/// The criterion of [EH18 §6] treats monitors as independent. These contradict each other.
#[test]
fn structural_monitorability_misses_contradictions() {
    let specification =
        specification(system("a: p"), &[("root", "", "F(@yes & @no)"), ("yes", "", "p"), ("no", "", "!p")]);
    let network = network(&specification);
    assert!(network.monitors.iter().all(|part| part.automaton.monitorable().iter().all(|can| *can)));
    let found = network.monitorability(&specification.system, Budget::default());
    assert_eq!(found, Monitorability::NotMonitorable { monitor: M0, after: Some(vec![]) });
}

#[test]
fn figure_6_4_cycles_are_decided() {
    let ab = || system("a: p, b: q");
    // A true operand cancels the dependency; otherwise the verdict stays unknown forever.
    let cycle = specification(ab(), &[("m0", "", "p | @m1"), ("m1", "", "q | @m0")]);
    let network = crate::specification_common::network(&cycle);
    assert!(network.is_cyclic());
    assert_eq!(network.depth(M0), u32::MAX);
    for (text, expected) in [("p.", Truth::True), (".q", Truth::True), ("..", Truth::Unknown)] {
        assert_eq!(verdict(&network, &trace(&cycle.system, text)), expected, "{text}");
    }
    let found = network.monitorability(&cycle.system, Budget::default());
    assert!(matches!(found, Monitorability::NotMonitorable { after: Some(after), .. } if after == [vec![]]));
    // Dependencies on later instants are not real cycles.
    let later = specification(ab(), &[("m0", "", "p | X @m1"), ("m1", "", "q | X @m0")]);
    let network = crate::specification_common::network(&later);
    assert!(network.is_cyclic());
    assert_eq!(network.monitorability(&later.system, Budget::default()), Monitorability::Always);
    let turns = trace(&later.system, ".q p. .. .q");
    assert_eq!(verdict(&network, &turns[2..]), Truth::True);
    assert_eq!(verdict(&network, &turns[2..3]), Truth::Unknown);
    let small = Budget { states: 1, ..Budget::default() };
    let found = network.monitorability(&later.system, small);
    assert!(matches!(found, Monitorability::Undecided { cycle, .. } if cycle.len() == 2));
}

#[test]
fn example_26_a_monitor_is_placed_where_both_can_reach_it() {
    let mut system = System::default();
    let [c0, c1, c2, c3] = ["c0", "c1", "c2", "c3"].map(|name| system.component(name).unwrap());
    for (from, to) in [(c0, c1), (c0, c2), (c2, c3)] {
        system.link(from, to);
    }
    assert!(system.can_reach(c0, c3) && !system.can_reach(c2, c1));
    let sends = [vec![1], vec![], vec![1]];
    let on = |m1: Option<ComponentId>| place(&sends, &system, &[Some(c0), m1, Some(c2)]);
    assert_eq!(on(Some(c1)), Placement::Impossible);
    assert_eq!(on(Some(c2)), Placement::Placed(vec![c0, c2, c2]));
    assert_eq!(on(Some(c3)), Placement::Placed(vec![c0, c3, c2]));
    assert!(matches!(on(None), Placement::Placed(places) if [c2, c3].contains(&places[1])));
    assert_eq!(place(&[vec![1], vec![]], &system, &[Some(c1), Some(c2)]), Placement::Impossible);
}

#[test]
fn placement_follows_propositions_and_links() {
    let mut system = system("a: p, b: q, c: r");
    let [a, b, c] = ["a", "b", "c"].map(|name| system.find_component(name).unwrap());
    system.link(a, b);
    system.link(c, b);
    let monitors = [("root", "", "@m_p & @m_r"), ("m_p", "", "F p"), ("m_r", "", "F r")];
    let specification = specification(system, &monitors);
    let places: Vec<ComponentId> = network(&specification).monitors.iter().map(|part| part.at).collect();
    assert_eq!(places, [b, a, c]);
    let mut elsewhere = specification.clone();
    elsewhere.system.link(b, c);
    elsewhere.add("far", MonitorBody::Formula(SyntaxTree::parse("p & @m_r").unwrap()), Some(a)).unwrap();
    assert_eq!(
        messages(elsewhere.network(Budget::default())),
        [
            "`far` on a depends on `m_r` on c, but no path of links leads there (add a link, or move one of them)"
        ]
    );
}

#[test]
fn black_box_verdict_is_observed_on_its_component() {
    let mut specification =
        specification(system("kitchen: stove, hall: door"), &[("root", "hall", "G(door -> !@cooking)")]);
    let kitchen = specification.system.find_component("kitchen");
    let file = "cooking.prop".to_owned();
    let cooking =
        specification.add("cooking", MonitorBody::BlackBox { file: file.clone() }, kitchen).unwrap();
    let nowhere = specification.add("other", MonitorBody::BlackBox { file }, None).unwrap_err();
    assert_eq!(nowhere.message, "no component is given for the black box `other`");
    let said = specification.system.find_proposition("@cooking").unwrap();
    assert!(
        specification.is_black_box(said)
            && !specification.is_black_box(specification.system.find_proposition("door").unwrap())
    );
    let network = network(&specification);
    let trace = trace(&specification.system, ".d@ .d.");
    assert_eq!(verdicts(&network, &trace).of(cooking, 1), Truth::True);
    assert_eq!(verdict(&network, &trace[..1]), Truth::False);
    assert_eq!(verdict(&network, &trace[1..]), Truth::Unknown);
}

#[test]
fn rooted_network_keeps_only_needed_monitors() {
    let monitors =
        [("root", "", "@two & p"), ("other", "", "@one"), ("two", "", "X @one"), ("one", "", "F q")];
    let specification = specification(system("a: p, b: q"), &monitors);
    let all = network(&specification);
    let two = all.rooted(MonitorId(2));
    assert_eq!(two.monitors.iter().map(|part| part.name.as_str()).collect::<Vec<_>>(), ["two", "one"]);
    assert_eq!((two.root, two.references(MonitorId(0))), (MonitorId(0), vec![MonitorId(1)]));
    assert_eq!(
        compare(&specification.system, &two, &all.rooted(MonitorId(2)), Budget::default()),
        Comparison::Same
    );
}

#[test]
fn all_errors_in_monitors_are_reported() {
    let specification = specification(
        system("a: press, b: lit"),
        &[
            ("root", "a", "G(pres -> @ligt)"),
            ("light", "a", "lit"),
            ("loop", "", "F @loop"),
            ("both", "", "press & lit"),
            ("named", "", "light"),
            ("text", "", "\"x < 3\""),
        ],
    );
    assert_eq!(
        messages(specification.network(Budget::default())),
        [
            "no component observes `pres` (did you mean `press`?)",
            "there is no monitor `ligt` (did you mean `light`?)",
            "`light` is on a, but `lit` is observed by b (write a monitor for it, `m_lit @ b = lit`, and refer to it as `@m_lit`)",
            "`loop` refers to itself (a monitor can only refer to others)",
            "`press` is observed by a, but `lit` by b: one monitor cannot see both (write a monitor for it, `m_lit @ b = lit`, and refer to it as `@m_lit`)",
            "no component observes `light`, but there is a monitor of this name (refer to it as `@light`)",
            "expressions such as `x < 3` are not allowed in monitors (declare a proposition for it on a component)",
        ]
    );
}

#[test]
fn errors_in_automata_are_reported() {
    let edge = |label: Option<&str>, to| EdgeSpec {
        label: label.map(|label| SyntaxTree::parse(label).unwrap()),
        to,
    };
    let state = |name: &str, verdict, edges| StateSpec { name: name.to_owned(), verdict, edges };
    let said = |states: Vec<StateSpec>| {
        let mut specification = Specification::new(system("a: p q"));
        specification.root =
            specification.add("m", MonitorBody::Automaton(AutomatonSpec { states }), None).ok();
        messages(specification.network(Budget::default())).join("; ")
    };
    let done = || state("done", Truth::True, vec![]);
    assert_eq!(said(vec![]), "the automaton has no states (write at least: state start)");
    assert_eq!(
        said(vec![state("start", Truth::Unknown, vec![edge(Some("p"), 1)]), done()]),
        "the edges of the state `start` do not cover all cases (add an edge: STATE otherwise)"
    );
    assert_eq!(
        said(vec![
            state("start", Truth::Unknown, vec![edge(Some("p"), 1), edge(Some("q"), 0), edge(None, 0)]),
            done()
        ]),
        "the edges from `start` to `done` and `start` overlap: `q` does not exclude the other condition (make the conditions mutually exclusive)"
    );
    assert_eq!(
        said(vec![state("start", Truth::Unknown, vec![edge(Some("X p"), 1), edge(None, 0)]), done()]),
        "`X p` is temporal (conditions of edges refer to the current instant: remove temporal operators)"
    );
    assert_eq!(
        said(vec![state("start", Truth::True, vec![edge(Some("p"), 1)]), done()]),
        "the state `start` has a final verdict but an edge to another state (final verdicts are irrevocable: remove its edges)"
    );
}

#[test]
fn comparison_shows_a_shortest_difference() {
    let monitors = |root: &'static str| [("root", "", root), ("m", "", "q")];
    let of = |root| specification(system("a: p, b: q"), &monitors(root));
    let (one, other) = (of("G(p -> @m)"), of("G(p -> X @m)"));
    let found = compare(&one.system, &network(&one), &network(&other), Budget::default());
    let Comparison::OneIsSlower(difference) = found else { panic!("{found:?}") };
    let p = one.system.find_proposition("p").unwrap();
    assert_eq!((difference.after, difference.verdicts), (vec![vec![p]], [Truth::False, Truth::Unknown]));
    let found = compare(&one.system, &network(&of("p")), &network(&of("!p")), Budget::default());
    assert!(matches!(found, Comparison::Different(_)));
    // Without budget for automata, all short traces are enumerated.
    let small = Budget { states: 1, ..Budget::default() };
    let found = compare(&one.system, &network(&one), &network(&of("!F(p & !@m)")), small);
    assert!(matches!(found, Comparison::SameUpTo { length: 7, .. }), "{found:?}");
    let found = compare(&one.system, &network(&of("p")), &network(&of("!p")), small);
    assert!(matches!(found, Comparison::Different(difference) if difference.after.len() == 1));
}
