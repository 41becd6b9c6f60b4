//! Semantics of DVE, on small models whose configurations can be counted by hand.

use crate::dve::common::{Count, count, load_text};
use invigil_lang::dve::Options;
use invigil_lang::model::{ClaimBody, ModelFile};
use invigil_model::{Expression, Step};

fn load(text: &str) -> ModelFile {
    load_text(text, Options::default())
}

/// The values of a variable in all reachable configurations, in order.
fn reached(loaded: &ModelFile, variable: &str) -> Vec<i64> {
    let model = &loaded.model;
    let variable = model.variable_named(variable).expect("a variable");
    let mut seen = model.initial_states();
    let mut at = 0;
    while at < seen.len() {
        let state = seen[at].clone();
        at += 1;
        for action in model.enabled(&state.words) {
            for target in model.outcomes(&state.words, action) {
                if target.fault.is_none() && !seen.contains(&target) {
                    seen.push(target);
                }
            }
        }
    }
    let read =
        |expression: &Expression, words: &[u64]| model.value(expression, Step::at(words)).expect("a value");
    let mut values: Vec<i64> =
        seen.iter().map(|state| read(&Expression::read(variable), &state.words)).collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// The value of an expression, computed by an effect.
fn value(expression: &str) -> i64 {
    let text = format!(
        "const byte seven = 7; const int table[3] = {{4, -5, 6}}; byte two = 2; byte list[3] = {{1, 2, 3}}; int x = 999;
         process P {{ byte own = 9; state a, b; init a; trans a -> b {{ effect x = {expression}; }}; }}
         process Q {{ byte far[2] = {{8, 9}}; int deep = -3; state c, d; init d; }}
         system async;"
    );
    let values = reached(&load(&text), "x");
    *values.iter().find(|value| **value != 999).unwrap_or(&999)
}

#[test]
fn operators_bind_as_in_divine() {
    for (expression, wanted) in [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 3 - 2", 5),
        ("7 / 2 % 2", 1),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("- - 5", 5),
        ("~5", -6),
        ("1 << 3 + 1", 16),
        ("256 >> 2 >> 1", 32),
        ("1 < 2 == 1", 1),
        ("2 == 2 < 3", 0),
        ("5 & 6 | 8 ^ 1", 13),
        ("1 | 2 == 2", 1),
        ("not 0 + 1", 2),
        ("!0 && true", 1),
        ("not (two == 2) or false", 0),
        // Equal binding power, left-associative: with the usual precedence this would be 1.
        ("1 or 1 and 0", 0),
        ("true || true && false", 0),
        ("0 and 0 or 1", 1),
        ("0 imply 0", 1),
        ("1 imply 0 imply 0", 1),
        ("1 or 0 imply 0", 0),
        ("5 >= 5 && 5 > 4 && 4 <= 4 && 3 != 4", 1),
        ("two + seven", 9),
        ("list[two] + table[1]", -2),
        ("list[list[0]]", 2),
        ("Q.d + Q.c", 1),
        ("Q->deep + Q->far[1]", 6),
        ("own * two", 18),
        ("0 and 1 / 0", 0),
        ("1 or 1 / 0", 1),
    ] {
        assert_eq!(value(expression), wanted, "{expression}");
    }
}

#[test]
fn effects_are_sequential_and_see_new_location() {
    assert_eq!(value("P.b * 10 + P.a"), 10);
    let swap = "byte a = 1, b = 2; process P { state s; init s; trans s -> s { effect a = b, b = a; }; } system async;";
    assert_eq!(reached(&load(swap), "b"), [2]);
}

#[test]
fn rendezvous_moves_two_processes() {
    let text = "byte got, order = 1; channel c;
        process A { byte x = 5; state p, q; init p; trans p -> q { sync c!x + 1; effect order = order * 10; }; }
        process B { state p, q; init p; trans p -> q { guard got == 0; sync c?got; }; }
        process C { byte y; state p, q; init p; trans p -> q { sync c?y; }; }
        system async;";
    let loaded = load(text);
    assert_eq!(count(&loaded.model), Count { states: 3, edges: 2, levels: 2, faults: 0 });
    assert_eq!(reached(&loaded, "got"), [0, 6]);
    let action = loaded.model.action(0);
    assert_eq!(action.name, "A: p → q, B: p → q (c)");
    assert_eq!(action.event.as_deref(), Some("c"));
    assert_eq!(action.moves[0].process, 0);
    let (name, value) = &action.parameters[0];
    let start = &loaded.model.initial_states()[0];
    assert_eq!((name.as_str(), loaded.model.value(value, Step::at(&start.words)).unwrap()), ("value", 6));
    let place = loaded.action_spans[0];
    assert!(text[place.start as usize..place.end as usize].starts_with("p -> q { sync c!x + 1"));
}

#[test]
fn rendezvous_stores_values_then_runs_receiver_then_sender() {
    let text = "byte a = 1, b = 1; channel c;
        process S { state p, q; init p; trans p -> q { sync c!3; effect b = a + R.q * 100 + S.q * 10; }; }
        process R { byte v; state p, q; init p; trans p -> q { sync c?v; effect a = v + 1 + S.q * 100; }; }
        system async;";
    let loaded = load(text);
    assert_eq!(reached(&loaded, "a"), [1, 4]);
    assert_eq!(reached(&loaded, "b"), [1, 114]);
}

#[test]
fn rendezvous_write_conflict_faults() {
    let text = "byte a; channel c;
        process S { state p, q; init p; trans p -> q { sync c!; effect a = 1; }; }
        process R { state p, q; init p; trans p -> q { sync c?; effect a = 1; }; }
        system async;";
    let loaded = load(text);
    assert_eq!(count(&loaded.model), Count { states: 1, edges: 1, levels: 1, faults: 1 });
    let fault =
        loaded.model.outcomes(&loaded.model.initial_states()[0].words, 0)[0].fault.clone().expect("a fault");
    assert_eq!(fault.to_string(), "assertion failed: `S` and `R` both change `a` in one step");
}

#[test]
fn rendezvous_needs_two_distinct_processes() {
    let text = "channel c, d;
        process S { state p, q; init p; trans p -> q { sync c!; }, -> q { sync c?; }, -> q { sync d!; }; }
        system async;";
    assert_eq!(count(&load(text).model).states, 1);
}

#[test]
fn buffered_channel_is_fifo() {
    let text = "channel {byte, int} c[2];
        process S { byte n; state p; init p; trans p -> p { guard n < 3; sync c!{n, -n}; effect n = n + 1; }; }
        process R { byte a; int b; state p; init p; trans p -> p { sync c?{a, b}; }; }
        system async;";
    let loaded = load(text);
    // `n` messages sent, `m` of them received, at most two between them: 1+2+3+3 pairs (n, m). The value received last
    // follows from `m`, except whether 0 was received.
    assert_eq!(count(&loaded.model).states, 9);
    assert_eq!(reached(&loaded, "R.b"), [-2, -1, 0]);
    assert_eq!(reached(&loaded, "c.length"), [0, 1, 2]);
    let events: Vec<_> =
        loaded.model.parts().actions.iter().map(|action| action.event.as_deref().unwrap()).collect();
    assert_eq!(events, ["c.send", "c.receive"]);
    let names: Vec<_> = loaded.model.action(1).parameters.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["value1", "value2"]);

    // Unused cells are 0, so the number of configurations stays finite while messages circulate.
    let round = "channel {byte} c[3]; process P { byte x; state a, b; init a;
        trans a -> b { sync c!7; }, b -> a { sync c?x; }; } system async;";
    assert_eq!(count(&load(round).model).states, 4);
}

#[test]
fn typed_channel_without_buffer_is_rendezvous() {
    let text = "channel {byte} c[0];
        process S { state p, q; init p; trans p -> q { sync c!300; }; }
        process R { int v; state p, q; init p; trans p -> q { sync c?v; }; }
        system async;";
    assert_eq!(count(&load(text).model), Count { states: 1, edges: 1, levels: 1, faults: 1 });
    assert_eq!(reached(&load_text(text, Options { wraps: true }), "R.v"), [0, 44]);
}

#[test]
fn out_of_range_values_fault_or_wrap() {
    let text = "byte n = 254; int i = -32767;
        process P { state a; init a; trans a -> a { effect n = n + 1; }, a -> a { effect i = i - 1; }; }
        system async;";
    let loaded = load(text);
    assert_eq!(count(&loaded.model), Count { states: 4, edges: 8, levels: 3, faults: 4 });
    let wrapping = load_text(text, Options { wraps: true });
    assert_eq!(reached_far(&wrapping, "n", 300), Some(0));
    assert_eq!(reached_far(&wrapping, "i", 3), Some(32767));
}

/// The value of a variable after the last action that changes it was taken often enough to wrap.
fn reached_far(loaded: &ModelFile, variable: &str, most: usize) -> Option<i64> {
    let model = &loaded.model;
    let id = model.variable_named(variable)?;
    let action = u32::from(variable == "i");
    let mut state = model.initial_states().remove(0);
    let read = |words: &[u64]| model.value(&Expression::read(id), Step::at(words)).expect("a value");
    for _ in 0..most {
        let before = read(&state.words);
        state = model.outcomes(&state.words, action).remove(0);
        let after = read(&state.words);
        if (after - before).abs() > 1 {
            return Some(after);
        }
    }
    None
}

#[test]
fn committed_states_have_priority() {
    let text = |commit: &str| {
        format!(
            "channel c;
             process A {{ state p, q, r; init p; {commit} trans p -> q {{}}, q -> r {{}}, q -> r {{ sync c!; }}; }}
             process B {{ state p, q; init p; trans p -> q {{}}, p -> q {{ sync c?; }}; }}
             system async;"
        )
    };
    // Unrestricted: 3 × 2 locations, all reachable.
    assert_eq!(count(&load(&text("")).model).states, 6);
    // `A` does not stop in `q`, and since `B` is not committed, there is no rendezvous.
    let committed = load(&text("commit q;"));
    assert_eq!(count(&committed.model), Count { states: 6, edges: 6, levels: 4, faults: 0 });
    assert!(committed.model.parts().actions.iter().all(|action| action.moves.len() == 1));
    let both = text("commit q;")
        .replace("process B { state p, q; init p;", "process B { state p, q; commit p; init p;");
    assert_eq!(load(&both).model.actions_named("c").len(), 1);
}

#[test]
fn synchronous_system_moves_all_processes() {
    let swap = "byte a = 1, b = 2;
        process P { state s; init s; trans s -> s { effect a = b; }; }
        process Q { state s; init s; trans s -> s { effect b = a; }; }
        system sync;";
    let loaded = load(swap);
    assert_eq!(count(&loaded.model), Count { states: 2, edges: 2, levels: 2, faults: 0 });
    assert_eq!(loaded.model.action(0).name, "P: s → s, Q: s → s");

    let arrays = "byte a[2] = {1, 2}, x = 1;
        process P { state s; init s; trans s -> s { effect a[0] = x, a[1] = a[0]; }; }
        process Q { state s; init s; trans s -> s { effect x = a[1]; }; }
        system sync;";
    // (1,2,1) → (1,1,2) → (2,2,1) → (1,1,2)
    assert_eq!(count(&load(arrays).model).states, 3);

    let choices = "process P { state a, b; init a; trans a -> b {}, a -> a {}, b -> a {}; }
        process Q { byte n; state a; init a; trans a -> a { guard n < 2; effect n = n + 1; }; }
        system sync;";
    // If one process cannot move, none can.
    assert_eq!(count(&load(choices).model), Count { states: 5, edges: 5, levels: 3, faults: 0 });

    let conflict = "byte a;
        process P { state s; init s; trans s -> s { effect a = 1; }; }
        process Q { state s; init s; trans s -> s { effect a = 2; }; }
        system sync;";
    assert_eq!(count(&load(conflict).model).faults, 1);
}

#[test]
fn assertions_become_claims() {
    let text = "byte n; process P { state a, b; init a; assert b: n   < 3, a: true;
        trans a -> b { effect n = n + 1; }, b -> a {}; } system async;";
    let loaded = load(text);
    let names: Vec<_> = loaded.claims.iter().map(|claim| claim.name.as_str()).collect();
    assert_eq!(names, ["P.b: n < 3", "P.a: true"]);
    let ClaimBody::Always(always) = &loaded.claims[0].body else { panic!("an assertion") };
    assert!(loaded.model.check_predicate(always).is_ok());
    let space = invigil_explore::interpreted_model::InterpretedModel::new(
        &loaded.model,
        vec![Expression::unary(invigil_model::Unary::Not, always.clone())],
    );
    let mut out = invigil_explore::Successors::default();
    invigil_explore::StateSpace::initial(&space, &mut out);
    let mut state = out.state(0, 1).to_vec();
    let mut steps = 0;
    while out.transitions[0].flags == 0 {
        out.clear();
        invigil_explore::StateSpace::successors(&space, &state, &mut out);
        state = out.state(0, 1).to_vec();
        steps += 1;
    }
    assert_eq!(steps, 5);
}

#[test]
fn dve_property_process_is_excluded_from_the_system() {
    let text = "byte n; process P { byte x; state a; init a; trans a -> a {}; }
        process InteractiveMonitor { state q1, q2; init q1; accept q2;
            trans q1 -> q1 {}, -> q2 { guard P.a && P->x == n; }, q2 -> q2 { guard not P.a; }; }
        system async property InteractiveMonitor;";
    let loaded = load(text);
    assert_eq!(loaded.model.parts().processes.len(), 1);
    let claim = &loaded.claims[0];
    let ClaimBody::Never(omega) = &claim.body else { panic!("an automaton") };
    assert_eq!((claim.name.as_str(), omega.initial, omega.sets), ("InteractiveMonitor", 0, 1));
    let edges: Vec<Vec<(u32, u64)>> =
        omega.edges.iter().map(|of| of.iter().map(|edge| (edge.target, edge.marks)).collect()).collect();
    assert_eq!(edges, [vec![(0, 0), (1, 0)], vec![(1, 1)]]);
    assert!(omega.edges.iter().flatten().all(|edge| loaded.model.check_predicate(&edge.label).is_ok()));

    let general = load(&text.replace("accept q2", "accept genbuchi (q1, q2), (q2), ()"));
    let ClaimBody::Never(omega) = &general.claims[0].body else { panic!("an automaton") };
    assert_eq!((omega.sets, omega.edges[0][0].marks, omega.edges[1][0].marks), (3, 0b001, 0b011));
    let none = load(&text.replace("accept q2;", ""));
    let ClaimBody::Never(omega) = &none.claims[0].body else { panic!("an automaton") };
    assert_eq!((omega.sets, omega.edges[1][0].marks), (1, 0));
}

#[test]
fn action_names_match_the_file() {
    let text = "const byte N = 2; byte a[N + 1] = {1, 0, 0, 0}; /* no\nuse */ int x = -3;
        process P_0 { byte my; const int c[2] = {300, -1}; state NCS, p1; init p1; // here
            trans p1 -> NCS {}, p1 -> NCS { guard c[my] > 0; }, NCS -> p1 { effect a[N] = 1; }; }
        system async;";
    let loaded = load(text);
    let names: Vec<_> =
        loaded.model.parts().variables.iter().map(|variable| variable.name.as_str()).collect();
    assert_eq!(names, ["a", "x", "P_0", "P_0.my", "P_0.c"]);
    let actions: Vec<_> = loaded.model.parts().actions.iter().map(|action| action.name.as_str()).collect();
    assert_eq!(actions, ["P_0: p1 → NCS", "P_0: p1 → NCS #2", "P_0: NCS → p1"]);
    assert_eq!(loaded.model.action(2).event.as_deref(), Some("P_0.p1"));
    let predicates: Vec<_> = loaded.model.parts().predicates.iter().map(|of| of.name.as_str()).collect();
    assert_eq!(predicates, ["P_0.NCS", "P_0.p1"]);
    let start = &loaded.model.initial_states()[0];
    let is_there = &loaded.model.parts().predicates[1].expression;
    assert!(loaded.model.holds(is_there, Step::at(&start.words)).unwrap());
    assert_eq!(count(&loaded.model).states, 4);
}
