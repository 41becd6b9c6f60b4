//! Slicing, compared with a reference that follows the published definition word by word: no index, no sharing, no
//! laziness, and its own evaluator.

use invigil_expr::value::Value;
use invigil_monitor::automaton::{Automaton, Branch};
use invigil_monitor::event::{Event, EventId, EventKind};
use invigil_monitor::observer::{Observer, TransitionTaken};
use invigil_monitor::slices::SliceTable;
use invigil_monitor::{Monitor, Scratch};
use invigil_test_support::cases;
use invigil_test_support::language::compile;
use proptest::prelude::*;
use std::fmt::Write;

const PARAMS: [&str; 3] = ["p", "q", "r"];

/// The guard over the counter `N`, the event's `x` and a constant.
#[derive(Clone, Copy, Debug)]
enum GuardForm {
    None,
    Less(i64),
    /// True, False or None, by the remainder of x.
    Three,
    /// No `return`: an update.
    Update(i64),
}

#[derive(Clone, Debug)]
struct EndForm {
    add: i64,
    /// Whether the event's x is added too; otherwise the update is minimal.
    with_x: bool,
    target: Option<usize>,
    /// `if N > c: return "state"`
    instead: Option<(i64, usize)>,
}

#[derive(Clone, Debug)]
struct TransitionForm {
    event: usize,
    guard: GuardForm,
    success: Option<EndForm>,
    failure: Option<EndForm>,
}

#[derive(Clone, Debug)]
struct PropertyForm {
    /// The number of `PARAMS` it slices on.
    slice_on: usize,
    /// The parameters that each event binds, as bits.
    events: Vec<u8>,
    states: Vec<(bool, Vec<TransitionForm>)>,
}

impl PropertyForm {
    fn text(&self) -> String {
        let mut out = String::new();
        if self.slice_on > 0 {
            writeln!(out, "slice on {}", PARAMS[..self.slice_on].join(", ")).unwrap();
        }
        out.push_str("initialization { N = 0 }\n");
        for (at, (is_final, transitions)) in self.states.iter().enumerate() {
            let word = if *is_final { "final" } else { "" };
            writeln!(out, "state {} accepting {word} {{", state_name(at)).unwrap();
            for t in transitions {
                let mut params: Vec<&str> = (0..self.slice_on)
                    .filter(|bit| self.events[t.event] & 1 << bit != 0)
                    .map(|bit| PARAMS[bit])
                    .collect();
                params.push("x");
                let guard = match t.guard {
                    GuardForm::None => String::new(),
                    GuardForm::Less(c) => format!("{{ return N < {c} }}"),
                    GuardForm::Three => {
                        "{\nif x % 3 == 0:\n    return True\nif x % 3 == 1:\n    return False\n}".into()
                    }
                    GuardForm::Update(c) => format!("{{ N = N + {c} }}"),
                };
                write!(out, "transition {{ event e{}({}) {guard}", t.event, params.join(", ")).unwrap();
                for (word, end) in [("success", &t.success), ("failure", &t.failure)] {
                    if let Some(end) = end {
                        let (sign, x) =
                            (if end.add < 0 { "-" } else { "+" }, if end.with_x { " + x" } else { "" });
                        write!(out, "\n{word} {{\nN = N {sign} {}{x}\n", end.add.abs()).unwrap();
                        if let Some((c, state)) = end.instead {
                            write!(out, "if N > {c}:\n    return \"{}\"\n", state_name(state)).unwrap();
                        }
                        write!(out, "}} {}", end.target.map_or(String::new(), state_name)).unwrap();
                    }
                }
                out.push_str("\n}\n");
            }
            out.push_str("}\n");
        }
        out
    }
}

fn state_name(at: usize) -> String {
    if at == 0 { "init".into() } else { format!("s{at}") }
}

// ---- the reference ---------------------------------------------------------------------------------------

type Instance = Vec<Option<i64>>;

#[derive(Clone, Debug, PartialEq)]
struct NaiveSlice {
    instance: Instance,
    state: usize,
    n: i64,
    /// Whether it ever took a transition on an event that binds some of its parameters.
    own: bool,
}

type Move = (Instance, usize, usize, Branch);

struct Naive<'a> {
    property: &'a PropertyForm,
    slices: Vec<NaiveSlice>,
}

impl Naive<'_> {
    /// Applies an event, as the definition has it: "for each slice instance" …
    fn event(&mut self, event: usize, values: &Instance, x: i64) -> Vec<Move> {
        let instance: Instance = values
            .iter()
            .enumerate()
            .map(|(bit, v)| v.filter(|_| self.property.events[event] & 1 << bit != 0))
            .collect();
        let matches =
            |slice: &NaiveSlice| slice.instance.iter().zip(&instance).all(|(s, e)| e.is_none() || s == e);
        let mut exists = self.slices.iter().any(matches);
        // The most specific first; among equally specific ones, the one that binds earlier parameters.
        let mut order: Vec<usize> = (0..self.slices.len()).collect();
        let mask = |slice: &NaiveSlice| {
            slice.instance.iter().enumerate().fold(0u8, |m, (bit, v)| m | u8::from(v.is_some()) << bit)
        };
        order.sort_by_key(|at| {
            let mask = mask(&self.slices[*at]);
            (std::cmp::Reverse(mask.count_ones()), mask)
        });
        let mut moves = Vec::new();
        let mut forgotten = Vec::new();
        for at in order {
            let slice = self.slices[at].clone();
            if matches(&slice) {
                // "If all parameters of the event are equal to the parameters of the slice instance, then
                // the slice is updated."
                let (updated, moved) = self.evaluate(slice, event, x, &instance, &mut moves);
                if moved && self.property.states[updated.state].0 {
                    forgotten.push(at);
                }
                self.slices[at] = updated;
            } else if !exists && slice.instance.iter().zip(&instance).all(|(s, e)| s.is_none() || s == e) {
                // "Otherwise, a new slice instance is created if every instantiated parameter in the slice
                // instance is equal to the corresponding event parameter value, and there is no slice
                // instance in the monitor for which the values of all parameters in the event are equal."
                exists = true;
                let merged = slice.instance.iter().zip(&instance).map(|(s, e)| s.or(*e)).collect();
                let new = NaiveSlice { instance: merged, own: false, ..slice };
                let (new, moved) = self.evaluate(new, event, x, &instance, &mut moves);
                if !(moved && self.property.states[new.state].0) {
                    self.slices.push(new);
                }
            }
        }
        forgotten.sort_unstable();
        for at in forgotten.into_iter().rev() {
            self.slices.remove(at);
        }
        moves
    }

    fn evaluate(
        &self,
        mut slice: NaiveSlice,
        event: usize,
        x: i64,
        instance: &Instance,
        moves: &mut Vec<Move>,
    ) -> (NaiveSlice, bool) {
        let from = slice.state;
        for t in self.property.states[from].1.iter().filter(|t| t.event == event) {
            let holds = match t.guard {
                GuardForm::None => Some(true),
                GuardForm::Less(c) => Some(slice.n < c),
                GuardForm::Three => [Some(true), Some(false), None][x.rem_euclid(3) as usize],
                GuardForm::Update(c) => {
                    slice.n += c;
                    Some(true)
                }
            };
            let stay = EndForm { add: 0, with_x: false, target: None, instead: None };
            let stays = t.success.is_none() && matches!(t.guard, GuardForm::None | GuardForm::Update(_));
            let (branch, end, silent) = match holds {
                Some(true) if stays => (Branch::Success, Some(&stay), true),
                Some(true) => (Branch::Success, t.success.as_ref(), false),
                Some(false) => (Branch::Failure, t.failure.as_ref(), false),
                None => continue,
            };
            let Some(end) = end else { continue };
            if !silent {
                slice.n += end.add + if end.with_x { x } else { 0 };
            }
            let instead = end.instead.filter(|(c, _)| slice.n > *c).map(|(_, state)| state);
            slice.state = instead.or(end.target).unwrap_or(from);
            slice.own |= instance.iter().any(Option::is_some);
            if slice.own || slice.instance.iter().all(Option::is_none) || self.property.slice_on != 1 {
                moves.push((slice.instance.clone(), from, slice.state, branch));
            }
            return (slice, true);
        }
        (slice, false)
    }
}

// ---- the comparison --------------------------------------------------------------------------------------

#[derive(Default)]
struct Moves(Vec<Move>);

impl Observer for Moves {
    fn transition_taken(&mut self, slices: &SliceTable, taken: TransitionTaken) {
        let instance = slices.binding(taken.slice).iter().map(|v| v.as_int()).collect();
        self.0.push((instance, taken.from.into(), taken.to.into(), taken.branch));
    }
}

fn agree(form: &PropertyForm, trace: &[(usize, [i64; 3], i64)]) -> Result<(), TestCaseError> {
    let text = form.text();
    let (automaton, catalog) = compile(&text);
    let mut scratch = Scratch::default();
    let mut slices = automaton.start(&mut scratch, &mut Moves::default());
    let mut naive = Naive {
        property: form,
        slices: vec![NaiveSlice { instance: vec![None; form.slice_on], state: 0, n: 0, own: false }],
    };
    for (event, values, x) in trace {
        let event = event % form.events.len();
        let values: Instance = values[..form.slice_on].iter().map(|v| Some(*v)).collect();
        // No transition mentions the event: no monitor receives it.
        let Some(symbol) = catalog.find(&format!("e{event}"), EventKind::Before) else { continue };
        let params: Vec<Value> = catalog
            .get(symbol)
            .unwrap()
            .params
            .iter()
            .map(|param| match PARAMS.iter().position(|name| *name == param.name) {
                Some(bit) => Value::int(values[bit].unwrap()),
                None => Value::int(*x),
            })
            .collect();
        let mut expected = naive.event(event, &values, *x);
        let mut moves = Moves::default();
        step(&automaton, &mut slices, &mut scratch, symbol, &params, &mut moves);
        // It may continue in another process.
        if x % 2 == 1 {
            let moved = SliceTable::load(&automaton, &slices.save()).expect("what was saved can be loaded");
            prop_assert_eq!(&moved, &slices);
            slices = moved;
        }
        moves.0.sort();
        expected.sort();
        prop_assert_eq!(&moves.0, &expected, "{}\n{:?}", text, trace);
        compare(form, &automaton, &slices, &naive, &text)?;
    }
    Ok(())
}

fn step(
    automaton: &Automaton,
    slices: &mut SliceTable,
    scratch: &mut Scratch,
    symbol: EventId,
    params: &[Value],
    moves: &mut Moves,
) {
    // As in every host, events that are not needed are not delivered, which must make no difference.
    if automaton.needs_event(slices, symbol) {
        automaton.step(slices, scratch, &Event { id: symbol, params, text: "" }, moves);
    }
    assert!(slices.fault().is_none());
}

fn compare(
    form: &PropertyForm,
    automaton: &Automaton,
    slices: &SliceTable,
    naive: &Naive<'_>,
    text: &str,
) -> Result<(), TestCaseError> {
    let n = automaton.env.iter().position(|name| name == "N").unwrap();
    let root = naive.slices.iter().find(|slice| slice.instance.iter().all(Option::is_none));
    let mut seen = 0;
    for slice in &naive.slices {
        let binding: Vec<Value> = slice.instance.iter().map(|v| v.map_or(Value::UNSET, Value::int)).collect();
        match slices.find(&binding, "") {
            Some(found) => {
                seen += 1;
                let actual = (usize::from(slices.state(found)), slices.env(found)[n].as_int());
                prop_assert_eq!(actual, (slice.state, Some(slice.n)), "{}\n{:?}", text, slice);
            }
            // With one parameter, a slice that never moved is not stored: it must equal the root.
            None => {
                prop_assert_eq!(form.slice_on, 1, "{} lacks {:?}", text, slice);
                prop_assert_eq!(root.map(|root| (root.state, root.n)), Some((slice.state, slice.n)));
            }
        }
    }
    prop_assert_eq!(seen, slices.len(), "{}", text);
    for (state, _) in automaton.states.iter().enumerate() {
        let count = slices.iter().filter(|slice| usize::from(slices.state(*slice)) == state).count();
        prop_assert_eq!(count as u32, slices.count(state as u16));
    }
    Ok(())
}

prop_compose! {
    fn end(states: usize)(
        add in -2i64..3,
        with_x in any::<bool>(),
        target in proptest::option::weighted(0.8, 0..states),
        instead in proptest::option::weighted(0.2, (0i64..6, 0..states)),
    ) -> EndForm {
        EndForm { add, with_x, target, instead }
    }
}

fn guard() -> impl Strategy<Value = GuardForm> {
    prop_oneof![
        2 => Just(GuardForm::None),
        3 => (0i64..6).prop_map(GuardForm::Less),
        2 => Just(GuardForm::Three),
        1 => (0i64..3).prop_map(GuardForm::Update),
    ]
}

prop_compose! {
    fn transition(events: usize, states: usize)(
        event in 0..events,
        guard in guard(),
        success in proptest::option::weighted(0.9, end(states)),
        failure in proptest::option::weighted(0.5, end(states)),
    ) -> TransitionForm {
        TransitionForm { event, guard, success, failure }
    }
}

fn property() -> impl Strategy<Value = PropertyForm> {
    (0usize..=3, 1usize..5, 1usize..5).prop_flat_map(|(slice_on, events, states)| {
        let bits = 1u8 << slice_on;
        // Every parameter must be bound by some event that is mentioned: the first event binds all, and the initial
        // state has a transition on it.
        let events_strategy = proptest::collection::vec(0..bits, events).prop_map(move |mut events| {
            events[0] = bits - 1;
            events
        });
        let first = transition(1, states);
        let one =
            (proptest::bool::weighted(0.2), proptest::collection::vec(transition(events, states), 0..4));
        (events_strategy, proptest::collection::vec(one, states), first).prop_map(
            move |(events, mut states, first)| {
                states[0].0 = false;
                states[0].1.push(first);
                PropertyForm { slice_on, events, states }
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(12_000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn slicing_matches_reference_semantics(
        form in property(),
        trace in proptest::collection::vec((0usize..4, [0i64..3, 0..3, 0..2], 0i64..4), 0..30),
    ) {
        agree(&form, &trace)?;
    }
}
