//! Properties, their slices and states.

use super::number;
use crate::command::{Command, Said, Scene, Takes, Topic, Words};
use crate::graph;
use crate::say::{past, with_addresses};
use invigil_check::report::Paint;
use invigil_expr::value::Value;
use invigil_monitor::slices::SliceId;
use invigil_monitor::watch::{Given, Watch};
use std::path::Path;

pub(crate) const TABLE: &[Command] = &[
    Command::new(Topic::Properties, "property", "[NAME]", "Show the properties, or choose the current one", property)
        .short(&["prop", "set-current", "get-current"])
        .takes(Takes::Property)
        .more("Commands such as `slices` and `graph` are about the current property.\n\n  property          all, with their states\n  property queue    choose one, by name or number"),
    Command::new(Topic::Properties, "slices", "", "Show the slices of the current property", slices),
    Command::new(Topic::Properties, "path", "[SLICE]", "Show how a slice came to where it is", path)
        .more("Without a number it is the slice that changed last."),
    Command::new(Topic::Properties, "state", "[[SLICE] NAME]", "Show the current states, or set one", state)
        .short(&["set-state"])
        .takes(Takes::State)
        .more("  state              the states that slices are in\n  state ready        put the root slice into a state\n  state 2 ready      put slice 2 into a state"),
    Command::new(Topic::Properties, "env", "[[SLICE] NAME = VALUE]", "Show what a property remembers, or set it", env)
        .takes(Takes::Nothing)
        .more("  env                the variables of every slice\n  env N = 3          set a variable of the root slice\n  env 2 N = 3        set a variable of slice 2"),
    Command::new(Topic::Properties, "graph", "[FILE.svg]", "Draw the current property, its states coloured", graph)
        .short(&["show-graph"])
        .takes(Takes::File)
        .more("States that a slice is in are green if accepting and red if not; the transitions taken last are brown,\nand the states they left grey. Without a name the file is called like the property."),
];

/// The current property.
pub(super) fn current<'a>(scene: &'a Scene<'_>) -> Result<&'a Watch, String> {
    let none = "no property is watched; `load-property FILE` loads one";
    scene.session.watch(scene.session.current_property()).ok_or_else(|| none.to_owned())
}

fn property(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    if !words.rest.is_empty() {
        let found = scene.session.find_property(words.rest).map_err(|trouble| trouble.to_string())?;
        scene.session.set_current_property(found).map_err(|trouble| trouble.to_string())?;
    }
    Ok(all(scene))
}

/// All properties with the states that their slices are in.
pub(super) fn all(scene: &mut Scene<'_>) -> String {
    if scene.session.watches().len() == 0 {
        return "No property is watched; `load-property FILE` loads one.\n".to_owned();
    }
    let mut out = String::new();
    for (at, watch) in scene.session.watches().enumerate() {
        let mark = if at == scene.session.current_property() { '*' } else { ' ' };
        let name = scene.desk.style.paint(Paint::Title, &watch.automaton().name);
        let (automaton, slices) = (watch.automaton(), watch.slices());
        let mut states = Vec::new();
        for (id, state) in automaton.states.iter().enumerate() {
            let count = slices.count(id as u16);
            if count > 0 {
                let many = if slices.len() > 1 { format!(" ({count})") } else { String::new() };
                states.push(past::state(scene, watch, &state.name) + &many);
            }
        }
        let mut words = if states.is_empty() { "no slice is left".to_owned() } else { states.join(", ") };
        if watch.failure().is_some() {
            words.push_str(", ended by an error");
        } else if watch.is_suspended() {
            words.push_str(", suspended");
        }
        out.push_str(&format!("{mark} {} {name}: {words}\n", at + 1));
    }
    out
}

fn slices(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    super::nothing(words.rest, "slices")?;
    let watch = current(scene)?;
    let mut out = format!("{}:\n", scene.desk.style.paint(Paint::Title, &watch.automaton().name));
    for slice in watch.slices().iter() {
        out.push_str(&one(scene, watch, slice));
    }
    if let Some(failure) = watch.failure() {
        out.push_str(&format!("  ended by an error: {}\n", failure.message));
    }
    Ok(out)
}

fn one(scene: &Scene<'_>, watch: &Watch, slice: SliceId) -> String {
    let (automaton, slices) = (watch.automaton(), watch.slices());
    let words = past::slice_words(watch, slice);
    let binding = if words.is_empty() { String::new() } else { format!("  {}", with_addresses(&words)) };
    let state = automaton.state_name(slices.state(slice));
    let env: Vec<String> = invigil_check::env(automaton, slices, slice)
        .iter()
        .map(|variable| format!("{} = {}", variable.name, variable.value))
        .collect();
    let env = if env.is_empty() { String::new() } else { format!("  {}", env.join(", ")) };
    format!("  slice {}{binding}  {}{env}\n", slice.0 + 1, past::state(scene, watch, state))
}

/// A slice, by its number as a person counts.
pub(super) fn slice(watch: &Watch, word: &str) -> Result<SliceId, String> {
    let wanted: u32 = number(word, "the number of a slice")?;
    let id = wanted.checked_sub(1).map(SliceId).filter(|id| watch.slices().contains(*id));
    id.ok_or_else(|| format!("there is no slice {wanted}; `slices` lists them"))
}

/// The slice that changed last, or else the root.
fn latest(scene: &Scene<'_>, watch: &Watch) -> Option<SliceId> {
    let property = scene.session.current_property();
    let last = scene.session.event_count();
    let first = *scene.session.remembered().start();
    // The most recent events are enough: usually it is the last one.
    let past = scene.session.events(first.max(last.saturating_sub(1000))..=last);
    let steps = past.iter().rev().flat_map(|past| past.steps.iter().rev());
    let changed = steps.into_iter().find(|step| step.property == property).map(|step| step.slice);
    changed.or_else(|| watch.slices().root())
}

fn path(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    let watch = current(scene)?;
    let slice = match words.rest {
        "" => latest(scene, watch).ok_or("no slice is left")?,
        word => slice(watch, word)?,
    };
    let binding = past::slice_words(watch, slice);
    let with = if binding.is_empty() { String::new() } else { format!(" with {binding}") };
    let title = scene.desk.style.paint(Paint::Title, &watch.automaton().name);
    let style = scene.desk.style;
    Ok(format!("{title}{with}\n")
        + &past::way(scene.session, scene.session.current_property(), slice, &style))
}

fn state(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    let watch = current(scene)?;
    if words.rest.is_empty() {
        let states: Vec<String> =
            watch.current_states().map(|name| past::state(scene, watch, name)).collect();
        return Ok(format!("{}: {}\n", watch.automaton().name, states.join(", ")));
    }
    let (slice, name) = match words.rest.split_once(char::is_whitespace) {
        Some((word, name)) => (Some(slice(watch, word)?), name.trim()),
        None => (None, words.rest),
    };
    let change = |watch: &mut Watch| match slice {
        Some(slice) => watch.set_state(slice, name),
        None => watch.set_current_state(name),
    };
    let property = scene.session.current_property();
    let done = scene.session.change(property, change).map_err(|trouble| trouble.to_string())?;
    done.map_err(|mistake| mistake.to_string())?;
    slices(scene, Words { format: "", rest: "" })
}

fn env(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    let watch = current(scene)?;
    if words.rest.is_empty() {
        return slices(scene, words);
    }
    let Some((place, value)) = super::data::assignment(words.rest) else {
        return Err(format!("`{}` is no assignment: `env [SLICE] NAME = VALUE`", words.rest));
    };
    let (slice, name) = match place.split_once(char::is_whitespace) {
        Some((word, name)) => (slice(watch, word)?, name.trim()),
        None => (watch.slices().root().ok_or("the root slice is forgotten: name a slice")?, place),
    };
    set_variable(scene, slice, name, value)?;
    slices(scene, Words { format: "", rest: "" })
}

/// Gives a variable of the current property a value.
pub(super) fn set_variable(
    scene: &mut Scene<'_>,
    slice: SliceId,
    name: &str,
    value: &str,
) -> Result<(), String> {
    let quoted = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    let given = match value {
        "None" => Given::Plain(Value::NONE),
        "True" | "true" => Given::Plain(Value::bool(true)),
        "False" | "false" => Given::Plain(Value::bool(false)),
        _ => match (quoted('\'').or(quoted('"')), value.parse::<i64>(), value.parse::<f64>()) {
            (Some(text), _, _) => Given::Text(text),
            (_, Ok(number), _) => Given::Plain(Value::int(number)),
            (_, _, Ok(number)) => Given::Plain(Value::float(number)),
            _ => {
                return Err(format!(
                    "`{value}` is no value: give a number, True, False, None or text in quotes"
                ));
            }
        },
    };
    let property = scene.session.current_property();
    let change = |watch: &mut Watch| watch.set_env(slice, &[(name, given)]);
    let done = scene.session.change(property, change).map_err(|trouble| trouble.to_string())?;
    done.map_err(|mistake| mistake.to_string())
}

fn graph(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    let watch = current(scene)?;
    let own = format!("{}.svg", watch.automaton().name.replace(['/', '\\'], "-"));
    let path = Path::new(if words.rest.is_empty() { own.as_str() } else { words.rest });
    if path.extension().is_none_or(|extension| extension != "svg") {
        return Err(format!("{}: the picture is SVG, so the name should end with .svg", path.display()));
    }
    let picture = graph::picture(scene)?;
    let written = std::fs::write(path, picture);
    written.map_err(|error| format!("{}: cannot write the picture: {error}", path.display()))?;
    Ok(format!("The picture is in {}\n", path.display()))
}
