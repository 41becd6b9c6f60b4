//! Semantics of models: small models with known state spaces, explored naively.

use crate::model::common::{diagnostics, explore, loaded};

/// Peterson's algorithm for `n` processes, by levels.
fn peterson(n: u32) -> String {
    format!(
        "
const N = {n}
position: [N] of 0..N-1
last: [N] of 0..N-1

process P[i in 0..N-1] {{
    level: 0..N
    other: 0..N

    state idle {{
        -> wait {{ level = 1; position[i] = 1 }}
    }}
    state wait {{
        when level < N -> check {{ last[level - 1] = i; other = 0 }}
        enter: when level == N -> critical {{ level = 0 }}
    }}
    state check {{
        when other < N and (other == i or position[other] < level) {{ other++ }}
        when other == N or last[level - 1] != i -> wait {{
            level++; other = 0
            if level < N {{ position[i] = level }}
        }}
    }}
    state critical {{
        leave: -> idle {{ position[i] = 0 }}
    }}
}}

invariant exclusion: forall i in 0..N-1: forall j in 0..N-1: i == j or not (P[i].critical and P[j].critical)
"
    )
}

#[test]
fn peterson_satisfies_mutual_exclusion() {
    for n in [2, 3] {
        let found = explore(&peterson(n));
        assert_eq!((found.bad, found.faults, found.deadlocks), (0, 0, 0), "{n}: {found:?}");
        assert!(found.states > 20);
    }
    // The smallest instance, whose states can be counted by hand.
    let text = "
flag: [2] of bool
turn: 0..1
process P[i in 0..1] {
    state idle { -> want { flag[i] = true } }
    state want { -> wait { turn = 1 - i } }
    state wait { when not flag[1 - i] or turn == i -> critical; }
    state critical { -> idle { flag[i] = false } }
}
invariant exclusion: not (P[0].critical and P[1].critical)
";
    let found = explore(text);
    assert_eq!((found.states, found.transitions, found.bad, found.deadlocks), (20, 34, 0, 0));
    let wrong = text.replace("flag[1 - i] or turn == i", "flag[1 - i] or turn != i");
    assert!(explore(&wrong).bad > 0);
}

#[test]
fn polite_philosophers_deadlock() {
    // Each takes the left fork first: one deadlock, 3^n - 1 or fewer states by symmetry of forks.
    let text = "
const N = 4
fork: [N] of bool
process Phil[i in 0..N-1] {
    state think { when not fork[i] -> one { fork[i] = true } }
    state one { eat: when not fork[(i + 1) % N] -> eat { fork[(i + 1) % N] = true } }
    state eat { -> think { fork[i] = false; fork[(i + 1) % N] = false } }
}
";
    let found = explore(text);
    assert_eq!((found.deadlocks, found.faults), (1, 0));
    // Words over think, one, eat around the table in which the right neighbour of an eater thinks, since an eater holds
    // both forks. Counted as closed walks of the matrix of allowed neighbours.
    let allowed = |left: usize, right: usize| left != 2 || right == 0;
    let mut count = 0;
    for code in 0..81_usize {
        let at = |place: usize| code / 3_usize.pow(place as u32 % 4) % 3;
        count += usize::from((0..4).all(|place| allowed(at(place), at((place + 1) % 4))));
    }
    assert_eq!(found.states, count);
    // With one left-handed philosopher there is no deadlock.
    let fair = text.replace("process Phil[i in 0..N-1]", "process Phil[i in 1..N-1]")
        + "
process Left {
    state think { when not fork[1] -> one { fork[1] = true } }
    state one { when not fork[0] -> eat { fork[0] = true } }
    state eat { -> think { fork[0] = false; fork[1] = false } }
}";
    assert_eq!(explore(&fair).deadlocks, 0);
}

#[test]
fn producer_consumer_buffer_keeps_capacity() {
    let text = "
channel c[2]: 0..2
process Producer {
    next: 0..2
    state run { put(next): c!next { next = (next + 1) % 3 } }
}
process Consumer {
    got: 0..2 = 2
    state run { c?got; }
}
invariant in_order: length(c) == (Producer.next - Consumer.got + 5) % 3
";
    // The state is determined by the number of waiting values and the next value.
    let found = explore(text);
    assert_eq!((found.states, found.transitions, found.deadlocks, found.bad), (9, 12, 0, 0));
    assert_eq!(loaded(text).model.parts().actions[0].parameters[0].0, "next");
}

#[test]
fn alternating_bit_protocol_tolerates_losses() {
    let text = "
// Lossy channels. The receiver delivers each message once, in order.
channel data[1]: 0..1, 0..2
channel ack[1]: 0..1
delivered, accepted: 0..2
pending: bool

process Sender {
    bit: 0..1
    state send { data!bit, accepted -> wait { pending = true } }
    state wait {
        ack?b when b == bit -> send { bit = 1 - bit; accepted = (accepted + 1) % 3; pending = false }
        ack?b when b != bit;
        data!bit, accepted;
    }
}
process Receiver {
    bit: 0..1
    value: 0..2
    state receive {
        data?b, value when b == bit -> answer { assert true }
        data?b, _ when b != bit -> again;
    }
    state answer {
        ack!bit -> receive { assert value == delivered, \"in order\"; delivered = (delivered + 1) % 3; bit = 1 - bit }
    }
    state again { ack!1 - bit -> receive; }
}
environment process Line {
    state on {
        lose: data?_, _;
        lose: ack?_;
    }
}
invariant one_ahead: delivered == accepted or (pending and delivered == (accepted + 1) % 3)
";
    let found = explore(text);
    assert_eq!((found.faults, found.bad, found.deadlocks), (0, 0, 0), "{found:?}");
    // If the bit of the acknowledgement is ignored, messages are lost.
    let careless = text.replace("ack?b when b == bit", "ack?_").replace("ack?b when b != bit;", "");
    let found = explore(&careless);
    assert!(found.faults > 0 || found.bad > 0);
}

#[test]
fn rendezvous_synchronises_two_processes() {
    let text = "
channel go: 0..3
process A { x: 0..3 = 2 state s { go!x + 1 -> t { x = 0 } } state t }
process B { y: 0..3 state s { go?y -> t { y = y - 1 } } state t }
process C { z: 0..3 state s { go?n when n == 3 -> t { z = n } go?1; } state t }
";
    let found = explore(text);
    // A synchronises with B or with C.
    assert_eq!((found.states, found.transitions, found.deadlocks), (3, 2, 2));
    let model = loaded(text).model;
    let names: Vec<&str> = model.parts().actions.iter().map(|action| action.name.as_str()).collect();
    assert_eq!(names, ["A: s → t, B: s → t", "A: s → t, C: s → t", "A: s → t, C: s → s"]);
    assert_eq!(model.parts().actions[0].event.as_deref(), Some("go"));
    let last = found.finals(&model);
    assert!(last.contains(&"A = t, A.x = 0, B = t, B.y = 2, C = s, C.z = 0".to_owned()), "{last:?}");
    assert!(last.contains(&"A = t, A.x = 0, B = s, B.y = 0, C = t, C.z = 3".to_owned()), "{last:?}");
}

#[test]
fn channels_carry_several_values_and_records() {
    for capacity in ["", "[1]"] {
        let text = format!(
            "
record Point {{ x: 0..3, y: 0..3 = 3 }}
channel c{capacity}: Point, bool
p: Point = [1, 2]
q: Point
done: bool
process A {{ state s {{ c!p, true -> t {{ p.x = 0 }} }} state t }}
process B {{ state s {{ c?q, done -> t; }} state t }}
process Swap {{ state s {{ when done -> t {{ p = q; q.y = 0 }} }} state t }}
"
        );
        let found = explore(&text);
        let last = found.finals(&loaded(&text).model);
        assert_eq!(last.len(), 1, "{last:?}");
        assert!(last[0].contains("p.x = 1, p.y = 2, q.x = 1, q.y = 0, done = true"), "{last:?}");
    }
    // Values are evaluated before the rendezvous, whichever process changes them.
    let swap = "
channel c: 0..3, 0..3
a: 0..3 = 1
b: 0..3 = 2
process A { state s { c!a, b -> t; } state t }
process B { state s { c?b, a -> t; } state t }
";
    assert!(explore(swap).finals(&loaded(swap).model)[0].starts_with("a = 2, b = 1"));
    let bound = "
channel c: 0..3
a: 0..3 = 1
b: 0..3
process A { state s { c!a -> t { a = 3 } } state t }
process B { state s { c?n -> t { b = n } } state t }
";
    assert!(explore(bound).finals(&loaded(bound).model)[0].starts_with("a = 3, b = 1"));
}

#[test]
fn mailboxes_drop_or_defer_unhandled_events() {
    let text = |mailbox: &str| {
        format!(
            "
enum Signal {{ ping, pong(0..7) }}
process P {{
    mailbox {mailbox} of Signal
    x: 0..7
    state a {{ on ping -> b; }}
    state b {{ on pong(n) when n > 2 -> c {{ x = n }} }}
    state c
}}
process Q {{
    state s {{ -> t {{ send P.pong(5); send P.ping }} }}
    state t {{ -> u {{ send P.pong(3) }} }}
    state u
}}
"
        )
    };
    // The first pong is too early: it is dropped and the second one is handled; or it waits and is handled.
    let ends = |text: &str| explore(text).finals(&loaded(text).model);
    let fifo = ends(&text("fifo[3]"));
    assert_eq!(fifo, ["P = c, P.x = 3, P.mailbox = [-, -, -], P.mailbox.0 = [0, 0, 0], Q = u"]);
    let deferred = ends(&text("deferred[3]"));
    assert_eq!(deferred, ["P = c, P.x = 5, P.mailbox = [pong, -, -], P.mailbox.0 = [3, 0, 0], Q = u"]);
    // Overflow: a fault, a loss, or the send is disabled.
    assert!(explore(&text("deferred[1]")).faults > 0);
    let lossy = ends(&text("deferred[1] lossy"));
    assert_eq!(lossy, ["P = a, P.x = 0, P.mailbox = [pong], P.mailbox.0 = [5], Q = u"]);
    let blocking = ends(&text("deferred[1] blocking"));
    assert_eq!(blocking, ["P = a, P.x = 0, P.mailbox = [-], P.mailbox.0 = [0], Q = s"]);
}

#[test]
fn event_leaves_mailbox_before_its_effect_runs() {
    let text = "
enum Signal { go(0..3) }
process P {
    mailbox fifo[1] of Signal
    state start { -> run { send self.go(3) } }
    state run {
        on go(n) when n > 0 { assert empty(self); send self.go(n - 1); assert length(P) == 1 }
        on go(0) -> end;
    }
    state end
}
";
    let found = explore(text);
    assert_eq!((found.states, found.faults, found.deadlocks), (6, 0, 1));
}

#[test]
fn statements_execute_as_documented() {
    let end = |body: &str| {
        let text = format!(
            "
enum Colour {{ red, green, blue }}
record Cell {{ on: bool, n: 0..9 }}
x, y: 0..9
colour: Colour
row: [3] of 0..9 = [1, 2, 3]
grid: [2] of [2] of 0..9 = [[1, 2], [3, 4]]
cells: [2] of Cell
process P {{ state s {{ -> t {{ {body} }} }} state t }}
"
        );
        explore(&text).finals(&loaded(&text).model)
    };
    let has = |body: &str, part: &str| {
        let found = end(body);
        assert!(found.len() == 1 && found[0].contains(part), "{body}: {found:?}");
    };
    has("x = 4; y = x + 1", "x = 4, y = 5");
    has("x += 2 x += row[1] y++", "x = 4, y = 1");
    has("x = 3; x--; x -= 2", "x = 0");
    has("if x == 0 { y = 1 } else { y = 2 }", "y = 1");
    has("if x == 1 { y = 1 } else if x == 0 { y = 3 } else { y = 2 }", "y = 3");
    has("for i in 0..2 { x += row[i]; row[i] = 9 - i }", "row = [9, 8, 7]");
    has("colour = blue", "colour = blue");
    has("colour = Colour.green", "colour = green");
    has("grid[1][0] = grid[0][1]", "grid[0] = [1, 2], grid[1] = [2, 4]");
    has(
        "x = 1; grid[x][x] = 9; y = grid[x - 1][x]",
        "y = 2, colour = red, row = [1, 2, 3], grid[0] = [1, 2], grid[1] = [3, 9]",
    );
    has(
        "x = 1; cells[x].n = 7; cells[0] = cells[x]; y = cells[x - 1].n",
        "cells[0].on = false, cells[0].n = 7",
    );
    has("row[row[0]] = 0", "row = [1, 0, 3]");
    has("x = colour == red ? 5 : 6", "x = 5");
    assert_eq!(end("x = any(2..4)").len(), 3);
    assert_eq!(end("x = any(2..4); require x != 3").len(), 2);
    assert_eq!(end("colour = any; x = any(0..1)").len(), 6);
    assert_eq!(end("x = any(0..1); if x == 0 { y = any(0..4) }").len(), 6);
    assert_eq!(end("x = any(0..1); cells[x].n = any(0..4)").len(), 10);
    let faults = |body: &str| {
        let text = format!(
            "x: 0..9 = 9\nrow: [2] of [2] of bool\nprocess P {{ state s {{ -> t {{ {body} }} }} state t }}"
        );
        explore(&text).reasons(&loaded(&text).model)
    };
    assert_eq!(faults("x = x + 1"), ["x cannot hold 10: its range is 0 to 9"]);
    assert_eq!(faults("x = x / (x - 9)"), ["division by zero"]);
    assert_eq!(faults("row[x][0] = true"), ["row has no element 9: there are 2, numbered from 0"]);
    assert_eq!(faults("if row[x][0] { x = 0 }"), ["row has no element 9: there are 2, numbered from 0"]);
    assert_eq!(faults("assert x < 9, \"x is small\""), ["assertion failed: x is small"]);
}

#[test]
fn committed_atomic_and_priorities_restrict_interleaving() {
    let counts = |kind: &str| {
        explore(&format!(
            "
process P {{ state a {{ -> b; }} {kind} state b {{ -> c; }} state c }}
process Q {{ state a {{ -> b; }} state b }}
"
        ))
        .transitions
    };
    // Q does not move while P is at b.
    assert_eq!((counts(""), counts("committed"), counts("atomic")), (7, 6, 6));
    // A committed process that is blocked blocks all others; an atomic one does not.
    let blocked = |kind: &str| {
        explore(&format!(
            "
go: bool
process P {{ state a {{ -> b; }} {kind} state b {{ when go -> c; }} state c }}
process Q {{ state a {{ -> b {{ go = true }} }} state b }}
"
        ))
    };
    assert_eq!(blocked("committed").finals.len(), 2);
    assert_eq!(blocked("atomic").finals.len(), 1);
    let priorities = "
process P priority 2 { state a { -> b; } state b { -> c; } state c }
process Q { state a { -> b; priority 3 -> c; } state b, c }
";
    assert_eq!(explore(priorities).states, 4);
}

#[test]
fn any_initial_value_gives_several_initial_states() {
    let text = "
x: 1..3 = any
y: [2] of 0..4 = [any(1..2), 4]
process P { state a }
";
    assert_eq!(explore(text).states, 6);
}

#[test]
fn templates_are_instantiated() {
    let text = "
const N = 3
channel link[i in 0..N-1]: 0..N
seen: 0..N
process Node(me, inward, outward, count) {
    state wait {
        inward?n -> hold { count = n }
    }
    initial state start {
        when me == 0 -> hold;
        when me != 0 -> wait;
    }
    state hold {
        outward!(me + 1) -> done;
    }
    state done { inward?_; }
}
instance Ring[i in 0..N-1] = Node(i, link[i], link[(i + 1) % N], seen)
invariant order: Ring[2].done implies Ring[0].done
";
    let found = explore(text);
    assert_eq!((found.bad, found.faults), (0, 0));
    let last = found.finals(&loaded(text).model);
    assert_eq!(last, ["seen = 2, Ring[0] = done, Ring[1] = done, Ring[2] = done"]);
}

#[test]
fn processes_read_each_others_locations_and_variables() {
    let text = "
n: 0..1
process P[i in 0..1] { x: 0..3 state a { when P[1 - i].a or i == 1 -> b { x = 2 } } state b }
process Q { state a { when P[n].b and P[n].x == 2 -> b { n = 1 } } state b { when P[n] == b -> c; } state c }
";
    let found = explore(text);
    assert_eq!((found.faults, found.bad), (0, 0));
    assert!(found.finals(&loaded(text).model).iter().all(|last| last.contains("P[1] = b")));
}

#[test]
fn claims_and_predicates_are_evaluated() {
    let text = "
const LIMIT = 3
x: 0..3
predicate small = x < LIMIT
predicate grows = x' == x + 1 and small
process P {
    state run { up: when small { x++ } down: when x > 0 { x-- } }
}
invariant steps: happens(up) implies x' == x + 1
invariant grown: happens(up) implies grows
invariant possible: x > 0 implies enabled(down)
invariant wrong: not (x == LIMIT)
ltl again: G F small;
ltl never: G (up -> F down)
";
    let found = loaded(text);
    let names: Vec<&str> = found.claims.iter().map(|claim| claim.name.as_str()).collect();
    assert_eq!(names, ["steps", "grown", "possible", "wrong", "again", "never"]);
    let outcome = explore(text);
    assert_eq!((outcome.states, outcome.transitions), (4, 6));
    // One step violates the claim.
    assert_eq!(outcome.bad, 1);
    assert_eq!(found.model.parts().predicates.len(), 2);
    assert!(
        diagnostics("x: bool process P { state a { when always -> a; } } predicate always = happens(a)")
            .len()
            == 1
    );
}

#[test]
fn units_and_spans_are_recorded() {
    let text =
        "environment process E { state a { tick: -> b; } state b }\nprocess S { state a { -> b; } state b }";
    let found = loaded(text);
    let parts = found.model.parts();
    assert_eq!(parts.processes[0].side, invigil_model::Side::Environment);
    assert_eq!(parts.actions[0].side, invigil_model::Side::Environment);
    assert_eq!(parts.actions[1].side, invigil_model::Side::System);
    let written: Vec<&str> =
        found.action_spans.iter().map(|span| &text[span.start as usize..span.end as usize]).collect();
    assert_eq!(written, ["tick: -> b", "-> b"]);
}

#[test]
fn model_and_its_dve_translation_have_equal_state_spaces() {
    let process = |own: u32, other: u32| {
        format!(
            "process P_{own} {{
    state idle, want, wait, critical; init idle;
    trans idle -> want {{ effect flag[{own}] = 1; }},
          want -> wait {{ effect turn = {other}; }},
          wait -> critical {{ guard flag[{other}] == 0 or turn == {own}; sync down!; }},
          critical -> idle {{ sync up?count; effect flag[{own}] = 0; }};
}}
"
        )
    };
    let dve = format!(
        "byte turn; byte flag[2]; byte count; channel down; channel up;
{}{}
process Lock {{
    byte n;
    state open, shut; init open;
    trans open -> shut {{ sync down?; effect n = (n + 1) % 3; }},
          shut -> open {{ sync up!n; }};
}}
system async;",
        process(0, 1),
        process(1, 0)
    );
    let ours = "
turn: 0..1 flag: [2] of bool count: byte
channel down channel up: byte
process P[i in 0..1] {
    state idle { -> want { flag[i] = true } }
    state want { -> wait { turn = 1 - i } }
    state wait { down! when not flag[1 - i] or turn == i -> critical; }
    state critical { up?count -> idle { flag[i] = false } }
}
process Lock {
    n: byte
    state open { down? -> shut { n = (n + 1) % 3 } }
    state shut { up!n -> open; }
}
";
    let (twin, diagnostics) = invigil_lang::dve::load(
        invigil_expr::diag::SourceId(0),
        &dve,
        &invigil_lang::dve::Options::default(),
    );
    let twin = twin.unwrap_or_else(|| panic!("{diagnostics:?}"));
    let (a, b) = (explore(ours), crate::model::common::explore_model(&twin));
    assert!(a.states > 50);
    assert_eq!((a.states, a.transitions, a.deadlocks), (b.states, b.transitions, b.deadlocks));
}
