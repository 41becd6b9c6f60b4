//! What a formula says, for a person to read and for programs.

use invigil_check::report::{Paint, Style};
use invigil_lang::ltl::Reading;
use invigil_lang::ltl::explain::{Explanation, StateUse, Word, instants};
use invigil_monitor::automaton::AtEnd;
use invigil_monitor::verdict::Verdict;
use serde_json::{Value, json};

/// The explanation, each line ended.
pub(super) fn words(said: &Explanation, style: &Style) -> String {
    let mut lines: Vec<String> = Vec::new();
    let name = style.paint(Paint::Title, &said.name);
    lines.push(if said.name == said.formula {
        format!("formula {name}")
    } else {
        format!("formula {name}: {}", said.formula)
    });
    let mut say = |title: &str, text: String| {
        let title = style.paint(Paint::Faint, &format!("{title:<13}"));
        lines.push(format!("  {title} {text}"));
    };
    said.sentence.iter().for_each(|sentence| say("says", sentence.clone()));
    said.pattern.iter().for_each(|pattern| say("pattern", pattern.clone()));
    said.smaller.iter().for_each(|smaller| say("same as", smaller.clone()));
    if said.reading == Reading::Ltlf {
        say("runs", "are complete when they end".to_owned());
    }
    if !said.slice_on.is_empty() {
        say("instances", format!("one for each {}", said.slice_on.join(" and ")));
    }
    say("class", format!("{}: {}", said.class, said.class_means));
    match (said.stutter_invariant, &said.stutters) {
        (Some(true), _) => say("repetitions", "do not matter: it is stutter-invariant".to_owned()),
        (_, Some([holds, fails])) => {
            say("repetitions", format!("matter: it holds on {holds}, not on {fails}"));
        }
        _ => {}
    }
    if let Some(monitorable) = &said.monitorable {
        say("monitoring", monitorable.reason.clone());
        let blind = monitorable.blind_after.iter().filter(|prefix| !prefix.is_empty());
        blind.for_each(|prefix| say("blind after", instants(prefix)));
    }
    let prefix = |prefix: &Option<Vec<_>>, at_once: &str| {
        prefix.as_deref().map(|prefix| match prefix.is_empty() {
            true => format!("none needed: {at_once}"),
            false => instants(prefix),
        })
    };
    let good = prefix(&said.good_prefix, "every run satisfies it");
    good.into_iter().for_each(|text| say("good prefix", text));
    let bad = prefix(&said.bad_prefix, "no run satisfies it");
    bad.into_iter().for_each(|text| say("bad prefix", text));
    let word = |word: &Option<Word>| word.as_ref().map_or_else(|| "no run".to_owned(), ToString::to_string);
    if said.unanswered.is_empty() {
        say("holds on", word(&said.holds_on));
        say("fails on", word(&said.fails_on));
    }
    say("automata", sizes(said));
    for question in &said.unanswered {
        say("no answer", question.clone());
    }
    lines.push(String::new());
    for state in &said.states {
        tell_state(state, style, &mut lines);
    }
    lines.join("\n") + "\n"
}

fn sizes(said: &Explanation) -> String {
    let states = |count: usize| format!("{count} state{}", if count == 1 { "" } else { "s" });
    let sizes = &said.sizes;
    let parts = [
        sizes.generalised.map(|(count, _, sets)| {
            format!("generalised Büchi {}, {sets} set{}", states(count), if sets == 1 { "" } else { "s" })
        }),
        sizes.buchi.map(|(count, _)| format!("Büchi {}", states(count))),
        sizes.monitor.map(|count| format!("monitor {}", states(count))),
        sizes.presuming.map(|count| format!("presuming {}", states(count))),
        sizes.finite.map(|count| format!("finite runs {}", states(count))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn tell_state(state: &StateUse, style: &Style, lines: &mut Vec<String>) {
    let (colour, verdict) = match (state.verdict, state.at_end) {
        (Verdict::Accepting, _) => (Paint::Good, "holds for good"),
        (Verdict::NonAccepting | Verdict::Error, _) => (Paint::Bad, "violated for good"),
        (_, AtEnd::Nothing) => (Paint::Open, "undecided"),
        (_, AtEnd::Presumably(true)) => (Paint::Open, "undecided, presumably holds"),
        (_, AtEnd::Presumably(false)) => (Paint::Open, "undecided, presumably violated"),
        (_, AtEnd::Decided(true)) => (Paint::Open, "holds if the run ends here"),
        (_, AtEnd::Decided(false)) => (Paint::Open, "violated if the run ends here"),
    };
    let starts = if state.is_initial { ", starts here" } else { "" };
    lines.push(format!(
        "state {}: {}{starts}",
        style.paint(Paint::Title, &state.name),
        style.paint(colour, verdict)
    ));
    for (label, to) in &state.moves {
        lines.push(format!("  {label} → {to}"));
    }
}

/// The explanation as an object.
pub(super) fn json(said: &Explanation) -> Value {
    let word = |word: &Word| json!({ "prefix": word.prefix, "cycle": word.cycle });
    let sizes = &said.sizes;
    json!({
        "name": said.name,
        "formula": said.formula,
        "reading": match said.reading { Reading::Ltl => "ltl", Reading::Ltlf => "ltlf" },
        "same_as": said.smaller,
        "slice_on": said.slice_on,
        "sentence": said.sentence,
        "pattern": said.pattern,
        "class": said.class,
        "stutter_invariant": said.stutter_invariant,
        "stutters": said.stutters.as_ref().map(|[holds, fails]| json!({ "holds": word(holds), "fails": word(fails) })),
        "monitorable": said.monitorable.as_ref().map(|found| found.is_monitorable),
        "monitoring": said.monitorable.as_ref().map(|found| &found.reason),
        "blind_after": said.monitorable.as_ref().and_then(|found| found.blind_after.as_ref()),
        "good_prefix": said.good_prefix,
        "bad_prefix": said.bad_prefix,
        "holds_on": said.holds_on.as_ref().map(word),
        "fails_on": said.fails_on.as_ref().map(word),
        "sizes": {
            "generalised_buchi": sizes.generalised.map(|(states, edges, sets)| {
                json!({ "states": states, "edges": edges, "sets": sets })
            }),
            "buchi": sizes.buchi.map(|(states, edges)| json!({ "states": states, "edges": edges })),
            "monitor": sizes.monitor,
            "presuming": sizes.presuming,
            "finite": sizes.finite,
        },
        "states": said.states.iter().map(state).collect::<Vec<_>>(),
        "unanswered": said.unanswered,
    })
}

fn state(state: &StateUse) -> Value {
    let at_end = match state.at_end {
        AtEnd::Nothing => None,
        AtEnd::Presumably(holds) => Some(("presumably", holds)),
        AtEnd::Decided(holds) => Some(("decided", holds)),
    };
    json!({
        "name": state.name,
        "verdict": state.verdict.word(),
        "initial": state.is_initial,
        "at_end": at_end.map(|(how, holds)| json!({ "how": how, "holds": holds })),
        "moves": state.moves.iter().map(|(label, to)| json!({ "if": label, "to": to })).collect::<Vec<_>>(),
    })
}
