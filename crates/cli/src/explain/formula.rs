//! Explanations of formulae, as text and as JSON.

use invigil_check::report::{Paint, Style};
use invigil_lang::ltl::TraceSemantics;
use invigil_lang::ltl::explain::{Explanation, StateInfo, Word, render_valuations};
use invigil_monitor::automaton::EndVerdict;
use invigil_monitor::verdict::Verdict;
use serde_json::{Value, json};

/// The explanation as text, with a newline after each line.
pub(super) fn text(explanation: &Explanation, style: &Style) -> String {
    let mut lines: Vec<String> = Vec::new();
    let name = style.paint(Paint::Title, &explanation.name);
    lines.push(if explanation.name == explanation.formula {
        format!("formula {name}")
    } else {
        format!("formula {name}: {}", explanation.formula)
    });
    let mut field = |title: &str, text: String| {
        let title = style.paint(Paint::Faint, &format!("{title:<13}"));
        lines.push(format!("  {title} {text}"));
    };
    explanation.sentence.iter().for_each(|sentence| field("meaning", sentence.clone()));
    explanation.pattern.iter().for_each(|pattern| field("pattern", pattern.clone()));
    explanation.simplified.iter().for_each(|smaller| field("same as", smaller.clone()));
    if explanation.semantics == TraceSemantics::Ltlf {
        field("runs", "end with the trace (finite-trace semantics)".to_owned());
    }
    if !explanation.slice_on.is_empty() {
        field("instances", format!("one per {}", explanation.slice_on.join(" and ")));
    }
    field("class", format!("{}: {}", explanation.class, explanation.class_description));
    match (explanation.stutter_invariant, &explanation.stuttering_words) {
        (Some(true), _) => field("repetitions", "do not matter: the formula is stutter-invariant".to_owned()),
        (_, Some([holds, fails])) => {
            field("repetitions", format!("matter: the formula holds on {holds} but not on {fails}"));
        }
        _ => {}
    }
    if let Some(monitorable) = &explanation.monitorable {
        field("monitoring", monitorable.reason.clone());
        let prefixes = monitorable.blind_prefix.iter().filter(|prefix| !prefix.is_empty());
        prefixes.for_each(|prefix| field("blind after", render_valuations(prefix)));
    }
    let prefix = |prefix: &Option<Vec<_>>, when_empty: &str| {
        prefix.as_deref().map(|prefix| match prefix.is_empty() {
            true => format!("none needed: {when_empty}"),
            false => render_valuations(prefix),
        })
    };
    let good = prefix(&explanation.good_prefix, "every run satisfies it");
    good.into_iter().for_each(|text| field("good prefix", text));
    let bad = prefix(&explanation.bad_prefix, "no run satisfies it");
    bad.into_iter().for_each(|text| field("bad prefix", text));
    let word = |word: &Option<Word>| word.as_ref().map_or_else(|| "no run".to_owned(), ToString::to_string);
    if explanation.unanswered.is_empty() {
        field("holds on", word(&explanation.holds_on));
        field("fails on", word(&explanation.fails_on));
    }
    field("automata", sizes(explanation));
    for question in &explanation.unanswered {
        field("no answer", question.clone());
    }
    lines.push(String::new());
    for state in &explanation.states {
        write_state(state, style, &mut lines);
    }
    lines.join("\n") + "\n"
}

fn sizes(explanation: &Explanation) -> String {
    let states = |count: usize| format!("{count} state{}", if count == 1 { "" } else { "s" });
    let sizes = &explanation.sizes;
    let parts = [
        sizes.generalised.map(|(count, _, sets)| {
            format!("generalised Büchi {}, {sets} set{}", states(count), if sets == 1 { "" } else { "s" })
        }),
        sizes.buchi.map(|(count, _)| format!("Büchi {}", states(count))),
        sizes.monitor.map(|count| format!("monitor {}", states(count))),
        sizes.presumptive.map(|count| format!("presumptive monitor {}", states(count))),
        sizes.finite.map(|count| format!("finite runs {}", states(count))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn write_state(state: &StateInfo, style: &Style, lines: &mut Vec<String>) {
    let (colour, verdict) = match (state.verdict, state.at_end) {
        (Verdict::Accepting, _) => (Paint::Good, "holds for good"),
        (Verdict::NonAccepting | Verdict::Error, _) => (Paint::Bad, "violated for good"),
        (_, EndVerdict::Nothing) => (Paint::Undecided, "undecided"),
        (_, EndVerdict::Presumably(true)) => (Paint::Undecided, "undecided, presumably holds"),
        (_, EndVerdict::Presumably(false)) => (Paint::Undecided, "undecided, presumably violated"),
        (_, EndVerdict::Decided(true)) => (Paint::Undecided, "holds if the run ends here"),
        (_, EndVerdict::Decided(false)) => (Paint::Undecided, "violated if the run ends here"),
    };
    let starts = if state.is_initial { ", starts here" } else { "" };
    lines.push(format!(
        "state {}: {}{starts}",
        style.paint(Paint::Title, &state.name),
        style.paint(colour, verdict)
    ));
    for (label, to) in &state.edges {
        lines.push(format!("  {label} → {to}"));
    }
}

/// The explanation as a JSON object.
pub(super) fn json(explanation: &Explanation) -> Value {
    let word = |word: &Word| json!({ "prefix": word.prefix, "cycle": word.cycle });
    let sizes = &explanation.sizes;
    json!({
        "name": explanation.name,
        "formula": explanation.formula,
        "reading": match explanation.semantics { TraceSemantics::Ltl => "ltl", TraceSemantics::Ltlf => "ltlf" },
        "same_as": explanation.simplified,
        "slice_on": explanation.slice_on,
        "sentence": explanation.sentence,
        "pattern": explanation.pattern,
        "class": explanation.class,
        "stutter_invariant": explanation.stutter_invariant,
        "stutters": explanation.stuttering_words.as_ref().map(|[holds, fails]| json!({ "holds": word(holds), "fails": word(fails) })),
        "monitorable": explanation.monitorable.as_ref().map(|found| found.is_monitorable),
        "monitoring": explanation.monitorable.as_ref().map(|found| &found.reason),
        "ugly_prefix": explanation.monitorable.as_ref().and_then(|found| found.blind_prefix.as_ref()),
        "good_prefix": explanation.good_prefix,
        "bad_prefix": explanation.bad_prefix,
        "holds_on": explanation.holds_on.as_ref().map(word),
        "fails_on": explanation.fails_on.as_ref().map(word),
        "sizes": {
            "generalised_buchi": sizes.generalised.map(|(states, edges, sets)| {
                json!({ "states": states, "edges": edges, "sets": sets })
            }),
            "buchi": sizes.buchi.map(|(states, edges)| json!({ "states": states, "edges": edges })),
            "monitor": sizes.monitor,
            "presuming": sizes.presumptive,
            "finite": sizes.finite,
        },
        "states": explanation.states.iter().map(state).collect::<Vec<_>>(),
        "unanswered": explanation.unanswered,
    })
}

fn state(state: &StateInfo) -> Value {
    let at_end = match state.at_end {
        EndVerdict::Nothing => None,
        EndVerdict::Presumably(holds) => Some(("presumably", holds)),
        EndVerdict::Decided(holds) => Some(("decided", holds)),
    };
    json!({
        "name": state.name,
        "verdict": state.verdict.word(),
        "initial": state.is_initial,
        "at_end": at_end.map(|(how, holds)| json!({ "how": how, "holds": holds })),
        "moves": state.edges.iter().map(|(label, to)| json!({ "if": label, "to": to })).collect::<Vec<_>>(),
    })
}
