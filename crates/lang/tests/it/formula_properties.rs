//! Formulas as properties of events, compared step by step with the machines that the logic builds.

use invigil_expr::diag::{SourceId, Sources};
use invigil_expr::value::Value;
use invigil_lang::ltl::{self, FormulaArgument, Property};
use invigil_lang::report::render;
use invigil_ltl::formula::Proposition;
use invigil_ltl::moore::FourValuedTruth;
use invigil_ltl::word::Letter;
use invigil_ltl::{Budget, Logic};
use invigil_monitor::automaton::{Automaton, EndVerdict};
use invigil_monitor::event::{ANY_EVENT, Event, EventCatalog, EventKind, STATE_EVENT};
use invigil_monitor::interactive::InteractiveMonitor;
use invigil_monitor::verdict::Verdict;
use invigil_test_support::cases;
use proptest::prelude::*;
use std::sync::Arc;

fn parse(text: &str) -> Result<Vec<Property>, String> {
    let mut sources = Sources::default();
    let source = sources.add("<command line>", text);
    let argument = FormulaArgument::parse(text).expect("a formula");
    let options = argument.options(source, text);
    let (properties, diagnostics) = ltl::parse(source, text, argument.formula, options);
    if diagnostics.is_empty() { Ok(properties) } else { Err(render(&sources, &diagnostics, false)) }
}

fn lower(text: &str) -> Result<(Automaton, EventCatalog), String> {
    let mut catalog = EventCatalog::default();
    let (automaton, diagnostics) = parse(text)?[0].lower(&[], &mut catalog);
    let mut sources = Sources::default();
    sources.add("<command line>", text);
    match automaton {
        Some(automaton) => Ok((automaton, catalog)),
        None => Err(render(&sources, &diagnostics, false)),
    }
}

/// The verdict and the result at the end, with the events so far.
fn standing(watch: &InteractiveMonitor) -> (Verdict, EndVerdict) {
    let root = watch.slices().root().unwrap();
    let state = &watch.automaton().states[usize::from(watch.slices().state(root))];
    (state.verdict, state.at_end)
}

fn expected(output: FourValuedTruth) -> (Verdict, EndVerdict) {
    match output {
        FourValuedTruth::False => (Verdict::NonAccepting, EndVerdict::Nothing),
        FourValuedTruth::PresumablyFalse => (Verdict::Undecided, EndVerdict::Presumably(false)),
        FourValuedTruth::PresumablyTrue => (Verdict::Undecided, EndVerdict::Presumably(true)),
        FourValuedTruth::True => (Verdict::Accepting, EndVerdict::Nothing),
    }
}

/// A random formula over `a`, `b`, `c` and two expressions over `x`.
fn formula() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["a", "b", "c", "\"x > 1\"", "\"x % 2 == 0\"", "true"]);
    leaf.prop_map(str::to_owned).prop_recursive(4, 14, 2, |inner| {
        let unary = prop::sample::select(vec!["!", "X", "F", "G", "Y", "O", "H"]);
        let binary = prop::sample::select(vec!["&", "|", "->", "U", "R", "W", "S"]);
        prop_oneof![
            (unary, inner.clone()).prop_map(|(operator, a)| format!("{operator}({a})")),
            (inner.clone(), binary, inner).prop_map(|(a, operator, b)| format!("(({a}) {operator} ({b}))")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(400), failure_persistence: None, ..ProptestConfig::default() })]

    /// Events: one name holds at each. Events that no atom names are not positions.
    #[test]
    fn events_are_letters_of_the_formula(
        formula in formula(),
        run in proptest::collection::vec((prop::sample::select(vec!["a", "b", "c", "other"]), 0i64..4), 0..12),
    ) {
        let (automaton, catalog) = lower(&format!("ltl:{formula}")).unwrap();
        let mut logic = Logic::new(Budget::default());
        let written = logic.parse(&formula).unwrap();
        let machine = logic.presumptive_monitor(written).unwrap();
        let mut state = machine.initial;
        let mut watch = InteractiveMonitor::new(Arc::new(automaton));
        prop_assert_eq!(standing(&watch), expected(machine.outputs[state as usize]));
        // A formula that names no event reads all of them.
        let names_events = ["a", "b", "c"].iter().any(|name| formula.contains(name));
        for (name, x) in run {
            let named = catalog.find(name, EventKind::Before);
            let symbol = if names_events { named } else { catalog.find(ANY_EVENT, EventKind::Before) };
            let is_instant = symbol.is_some() || !formula.contains('x') && !names_events;
            if let Some(symbol) = symbol {
                let value = |param: &str| if param == "x" { Value::int(x) } else { Value::NONE };
                let params: Vec<Value> =
                    catalog.get(symbol).unwrap().params.iter().map(|param| value(&param.name)).collect();
                watch.apply(&Event { id: symbol, params: &params, text: "" });
            }
            if is_instant {
                let holds = [("\"x > 1\"", x > 1), ("\"x % 2 == 0\"", x % 2 == 0)];
                let mut atoms = Vec::new();
                atoms.push(logic.formulae.atom_for(Proposition::Name(name.to_owned())));
                for (text, is_so) in holds {
                    if is_so {
                        atoms.push(logic.formulae.atom_for(Proposition::Expression(text.trim_matches('"').into())));
                    }
                }
                state = machine.next(&logic.labels, state, &atoms.into_iter().collect::<Letter>());
            }
            prop_assert_eq!(standing(&watch), expected(machine.outputs[state as usize]), "{} after {}", formula, name);
        }
    }

    /// Records: names are fields, which hold if they are true or 1.
    #[test]
    fn records_without_event_are_letters_of_the_formula(
        formula in formula(),
        run in proptest::collection::vec(proptest::collection::vec(prop::option::of(0i64..4), 4), 0..12),
    ) {
        let (automaton, catalog) = lower(&format!("ltl:{formula}")).unwrap();
        let mut logic = Logic::new(Budget::default());
        let written = logic.parse(&formula).unwrap();
        let machine = logic.presumptive_monitor(written).unwrap();
        let mut state = machine.initial;
        let mut watch = InteractiveMonitor::new(Arc::new(automaton));
        for row in run {
            let value = |param: &str| match (param, row["abcx".find(param).unwrap()]) {
                (_, None) => Value::UNSET,
                ("x", Some(x)) => Value::int(x),
                // True and false, or 1 and 0; anything else does not hold.
                (_, Some(3)) => Value::TRUE,
                (_, Some(x)) => Value::int(x),
            };
            if let Some(symbol) = catalog.find(STATE_EVENT, EventKind::Before) {
                let params: Vec<Value> =
                    catalog.get(symbol).unwrap().params.iter().map(|param| value(&param.name)).collect();
                watch.apply(&Event { id: symbol, params: &params, text: "" });
            }
            let mut atoms = Vec::new();
            for (name, value) in ["a", "b", "c"].iter().zip(&row) {
                if matches!(value, Some(1 | 3)) {
                    atoms.push(logic.formulae.atom_for(Proposition::Name((*name).to_owned())));
                }
            }
            if let Some(x) = row[3] {
                for (text, is_so) in [("x > 1", x > 1), ("x % 2 == 0", x % 2 == 0)] {
                    if is_so {
                        atoms.push(logic.formulae.atom_for(Proposition::Expression(text.into())));
                    }
                }
            }
            state = machine.next(&logic.labels, state, &atoms.into_iter().collect::<Letter>());
            prop_assert_eq!(standing(&watch), expected(machine.outputs[state as usize]), "{}", formula);
        }
    }

    /// Finite runs: at each position, the state gives the result if the run ended there; results that cannot change are
    /// reported immediately.
    #[test]
    fn end_of_trace_decides_ltlf(formula in formula(), run in proptest::collection::vec(0usize..3, 0..10)) {
        let (automaton, catalog) = lower(&format!("ltlf:{formula}")).unwrap();
        let mut logic = Logic::new(Budget::default());
        let written = logic.parse(&formula).unwrap();
        let machine = logic.finite_monitor(written).unwrap();
        let (can_hold, can_fail) = (machine.can_reach(|_, holds| holds), machine.can_reach(|_, holds| !holds));
        let mut state = machine.initial;
        let mut watch = InteractiveMonitor::new(Arc::new(automaton));
        for step in run {
            let name = ["a", "b", "c"][step];
            let Some(symbol) = catalog.find(name, EventKind::Before) else { continue };
            let params: Vec<Value> = catalog.get(symbol).unwrap().params.iter().map(|_| Value::int(2)).collect();
            watch.apply(&Event { id: symbol, params: &params, text: "" });
            let holds = [Proposition::Name(name.into()), Proposition::Expression("x > 1".into()),
                Proposition::Expression("x % 2 == 0".into())];
            let letter: Letter = holds.into_iter().map(|holds| logic.formulae.atom_for(holds)).collect();
            state = machine.next(&logic.labels, state, &letter);
            let at = state as usize;
            let verdict = match (can_hold[at], can_fail[at]) {
                (true, false) => Verdict::Accepting,
                (false, true) => Verdict::NonAccepting,
                _ => Verdict::Undecided,
            };
            prop_assert_eq!(standing(&watch), (verdict, EndVerdict::Decided(machine.outputs[at])), "{}", formula);
        }
    }
}

#[test]
fn settled_states_need_no_events() {
    let (automaton, catalog) = lower("ltl:G(request -> F grant) & G(fill -> \"amount <= 5\")").unwrap();
    let watch = InteractiveMonitor::new(Arc::new(automaton));
    let name = |symbol| catalog.get(symbol).unwrap().to_string();
    let needs: Vec<String> = watch.needed_events().iter().map(name).collect();
    assert_eq!(needs, ["request", "fill", STATE_EVENT], "`grant` changes nothing yet");
    let params = |event: &str| -> Vec<String> {
        let symbol = catalog.get(catalog.find(event, EventKind::Before).unwrap()).unwrap();
        symbol.params.iter().map(|param| param.name.clone()).collect()
    };
    assert_eq!(params("fill"), ["amount"]);
    assert!(params("request").is_empty() && params("grant").is_empty(), "the amount matters to `fill` only");
}

#[test]
fn states_are_named_after_awaited_events() {
    let names = |text: &str| -> Vec<String> {
        lower(text).unwrap().0.states.iter().map(|state| state.name.clone()).collect()
    };
    assert_eq!(names("ltl:G(request -> F grant)"), ["fine", "waiting_for_grant"]);
    assert_eq!(names("ltl:F(a & X b)"), ["waiting_for_a", "waiting_for_b", "satisfied"]);
    assert_eq!(names("ltl:G !'ns::push'"), ["fine", "violated"]);
    assert_eq!(names("ltlf:F \"x > 3\""), ["waiting", "satisfied"]);
    let counting = names("ltl:G(a -> X X b)");
    assert_eq!(counting[..4], ["fine", "waiting_for_not_a", "waiting_for_b", "waiting_for_b_2"]);
}

#[test]
fn violation_reports_a_sufficient_reason() {
    let (automaton, catalog) = lower("ltl:G(a -> \"x > 1\" & \"y > 1\" & \"z > 1\")").unwrap();
    let conditions = |symbol: &str| -> Vec<&str> {
        let symbol = catalog.find(symbol, EventKind::Before).unwrap();
        let of = automaton.transitions.iter().filter(|transition| transition.event == symbol);
        of.map(|transition| transition.condition.as_deref().unwrap()).collect()
    };
    assert_eq!(conditions("a"), ["!\"x > 1\"", "!\"y > 1\"", "!\"z > 1\""]);
}

#[test]
fn event_kinds_and_parameters_are_recognised() {
    let (_, catalog) = lower(
        "ltl[queue]:G('after queue_new(ret as queue)' -> F \"event queue_push(arg 1 as queue)\") & G !`write s`",
    )
    .unwrap();
    let shown: Vec<String> = catalog
        .iter()
        .map(|(_, symbol)| {
            let params: Vec<String> = symbol.params.iter().map(|param| param.source.to_string()).collect();
            format!("{symbol}({})", params.join(", "))
        })
        .collect();
    assert!(shown.contains(&"after queue_new(ret)".to_owned()), "{shown:?}");
    assert!(shown.contains(&"queue_push(arg 1)".to_owned()), "{shown:?}");
    assert!(shown.contains(&"write s(queue)".to_owned()), "{shown:?}");
}

#[test]
fn paths_and_results_become_parameters() {
    let (_, catalog) =
        lower("ltl:G('after pop' -> \"q->size <= 3 and ret != arg1 and #thread == 1\")").unwrap();
    let pop = catalog.get(catalog.find("pop", EventKind::After).unwrap()).unwrap();
    let mut sources: Vec<String> = pop.params.iter().map(|param| param.source.to_string()).collect();
    sources.sort();
    assert_eq!(sources, ["#thread", "arg 1", "q->size", "ret"]);
}

#[test]
fn files_define_properties_and_referenced_formulas() {
    let text = "busy = a | b  # a part\nmutex = G(@busy -> !(a & b))\nsoon = G(a -> F b)\n";
    let (properties, diagnostics) =
        ltl::parse(SourceId(0), text, 0..text.len(), ltl::FormulaOptions::of_file("rules"));
    assert!(diagnostics.is_empty());
    let names: Vec<&str> = properties.iter().map(|property| property.name.as_str()).collect();
    assert_eq!(names, ["mutex", "soon"]);
    let alone = ltl::parse(SourceId(0), "G a", 0..3, ltl::FormulaOptions::of_file("rules")).0;
    assert_eq!(alone[0].name, "rules");
    let mut catalog = EventCatalog::default();
    assert!(properties[0].lower(&[], &mut catalog).0.is_some());
    assert!(catalog.find("a", EventKind::Before).is_some() && catalog.find("b", EventKind::Before).is_some());
}

#[test]
fn ten_response_formulas_compile_within_limits() {
    let many: Vec<String> = (0..10).map(|n| format!("G(request{n} -> F grant{n})")).collect();
    let (automaton, _) = lower(&format!("ltl:{}", many.join(" & "))).unwrap();
    assert!(automaton.states.iter().all(|state| state.verdict == Verdict::Undecided));
}

#[test]
fn oversized_formula_reports_the_limit() {
    let many: Vec<String> = (0..40).map(|n| format!("(F a{n} & F b{n})")).collect();
    let text = format!("ltl:{}", many.join(" & "));
    let shown = lower(&text).err().unwrap_or_default();
    assert!(
        shown.contains("the monitor for this formula is too large"),
        "{}",
        &shown[..shown.len().min(400)]
    );
}

#[test]
fn expression_error_points_at_its_position() {
    let text = "ltl:G(a -> \"x + 'b' > 1\")";
    let (automaton, catalog) = lower(text).unwrap();
    let symbol = catalog.find("a", EventKind::Before).unwrap();
    let mut watch = InteractiveMonitor::new(Arc::new(automaton));
    let applied = watch.apply(&Event { id: symbol, params: &[Value::int(1)], text: "" });
    assert_eq!(applied.verdict, Some(Verdict::Error));
    let span = watch.fault().unwrap().span.unwrap();
    assert_eq!(&text[span.start as usize..span.end as usize], "x + 'b'");
}

#[test]
fn state_names_are_unique() {
    for text in
        ["ltl:F(a & X(b & X(b_2 & X b)))", "ltl:F(a & X(a & X(a & X(a_2 & X a_3))))", "ltl[q]:F(a & X a)"]
    {
        let (automaton, _) = lower(text).unwrap();
        let names: std::collections::HashSet<&str> =
            automaton.states.iter().map(|state| state.name.as_str()).collect();
        assert_eq!(names.len(), automaton.states.len(), "{text}");
    }
}

#[test]
fn oversized_presumptive_monitor_falls_back_to_certain_one() {
    let parts: Vec<String> = (0..20).map(|at| format!("G(a{at} -> F b{at})")).collect();
    let (automaton, _) = lower(&format!("ltl:{} & G !c", parts.join(" & "))).unwrap();
    assert!(automaton.states.len() < 4, "{}", automaton.states.len());
    assert!(automaton.states.iter().all(|state| state.at_end == EndVerdict::Nothing));
    assert!(automaton.states.iter().any(|state| state.verdict == Verdict::NonAccepting));
}

#[test]
fn formulas_of_a_file_keep_their_spans() {
    let text = "used = F(\"x >\" )\nfirst = G a // alone\nother = G(b -> @used)\n";
    let mut sources = Sources::default();
    let source = sources.add("rules.ltl", text);
    let (properties, diagnostics) =
        ltl::parse(source, text, 0..text.len(), ltl::FormulaOptions::of_file("rules"));
    assert!(diagnostics.is_empty());
    let names: Vec<&str> = properties.iter().map(|property| property.name.as_str()).collect();
    assert_eq!(names, ["first", "other"]);
    assert!(properties[0].lower(&[], &mut EventCatalog::default()).0.is_some());
    let (_, diagnostics) = properties[1].lower(&[], &mut EventCatalog::default());
    let reported = render(&sources, &diagnostics, false);
    assert!(reported.contains("rules.ltl:1:") && reported.contains("used = F(\"x >\" )"), "{reported}");
}

#[test]
fn large_formula_file_parses_in_linear_time() {
    let text: String = (0..20_000).map(|at| format!("rule{at} = G(a{at} -> F b{at})\n")).collect();
    let (properties, diagnostics) =
        ltl::parse(SourceId(0), &text, 0..text.len(), ltl::FormulaOptions::of_file("rules"));
    assert!(diagnostics.is_empty());
    assert_eq!(properties.len(), 20_000);
    // Parsing each of these would read the whole file if it did not use its own part only.
    let begun = std::time::Instant::now();
    for property in properties.iter().step_by(100) {
        assert!(property.lower(&[], &mut EventCatalog::default()).0.is_some());
    }
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}
