//! `exec`: the monitor interface of Verde, by its own names.

use super::properties::{current, set_variable, slice};
use crate::command::{Command, Said, Scene, Takes, Topic, Words, listed};
use crate::say::past;
use invigil_expr::diag::nearest;
use invigil_monitor::slices::SliceId;
use invigil_monitor::watch::Watch;

/// The methods that can be called.
pub(crate) const METHODS: [&str; 14] = [
    "get_current_states",
    "get_env",
    "get_env_keys",
    "get_env_value",
    "get_slice_bindings",
    "get_slices",
    "get_states",
    "print_monitor_state",
    "set_current_state",
    "set_env_value",
    "set_quiet",
    "step_by_step",
    "suspend",
    "resume",
];

pub(crate) const TABLE: &[Command] =
    &[Command::new(Topic::Properties, "exec", "METHOD [ARGUMENT…]", "Call a method of the current property's monitor", exec)
        .takes(Takes::Method)
        .more("Slices are numbered as `slices` shows them; without a number it is the root.\n\n  exec get_current_states\n  exec get_env 2\n  exec set_current_state ready\n  exec step_by_step on        ask for the prompt at every event of the property")];

fn exec(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    if words.rest.is_empty() {
        return Err(format!("say which method: {}", listed(&METHODS, "or")));
    }
    // `get_env(2, "N")` is as good as `get_env 2 N`.
    let separators = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',');
    let mut parts = words.rest.split(separators).filter(|part| !part.is_empty());
    let method = parts.next().unwrap_or("");
    let arguments: Vec<&str> = parts.collect();
    let unquoted = |word: &str| word.trim_matches(['"', '\'']).to_owned();
    let watch = current(scene)?;
    let root = || watch.slices().root().ok_or("the root slice is forgotten: name a slice");
    let of = |at: usize| match arguments.get(at) {
        Some(word) => slice(watch, word),
        None => Ok(root()?),
    };
    let argument =
        |at: usize, what: &str| arguments.get(at).copied().ok_or_else(|| format!("`{method}` needs {what}"));
    match method {
        "get_current_states" => Ok(joined(watch.current_states())),
        "get_states" => Ok(joined(watch.states())),
        "get_env_keys" => Ok(joined(watch.env_keys().iter().map(String::as_str))),
        "get_env" => variables(watch, of(0)?),
        "get_env_value" => {
            let (id, key) = match &arguments[..] {
                [key] => (root()?, unquoted(key)),
                [number, key, ..] => (slice(watch, number)?, unquoted(key)),
                [] => return Err("`get_env_value` needs a slice and a variable".to_owned()),
            };
            let value = watch.env_value(id, &key).map_err(|mistake| mistake.to_string())?;
            Ok(watch.slices().show(value) + "\n")
        }
        "get_slices" | "print_monitor_state" => Ok(watch.to_string()),
        "get_slice_bindings" => {
            let line = |id: SliceId| format!("{}: {}\n", id.0 + 1, past::slice_words(watch, id));
            Ok(watch.slices().iter().map(line).collect())
        }
        "set_current_state" => {
            let state = unquoted(argument(0, "a state")?);
            change(scene, |watch| watch.set_current_state(&state).map_err(|mistake| mistake.to_string()))
        }
        "set_env_value" => {
            let (id, at) = if arguments.len() > 2 { (of(0)?, 1) } else { (root()?, 0) };
            let (key, value) = (unquoted(argument(at, "a variable")?), argument(at + 1, "a value")?);
            set_variable(scene, id, &key, value)?;
            Ok(String::new())
        }
        "set_quiet" => {
            let on = switch(&arguments)?;
            change(scene, |watch| {
                watch.set_quiet(on);
                Ok(())
            })
        }
        "step_by_step" => {
            let on = switch(&arguments)?;
            change(scene, |watch| {
                watch.step_by_step(on);
                Ok(())
            })
        }
        "suspend" => change(scene, |watch| {
            watch.suspend();
            Ok(())
        }),
        "resume" => change(scene, |watch| {
            watch.resume();
            Ok(())
        }),
        other => {
            let near =
                nearest(other, METHODS).map_or(String::new(), |near| format!(": did you mean `{near}`?"));
            Err(format!("there is no method `{other}`{near}"))
        }
    }
}

fn joined<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<Vec<_>>().join(", ") + "\n"
}

fn variables(watch: &Watch, slice: SliceId) -> Said {
    let env = watch.env(slice).map_err(|mistake| mistake.to_string())?;
    Ok(env.map(|(name, value)| format!("{name} = {}\n", watch.slices().show(value))).collect())
}

/// `on`, `off`, or nothing for on.
fn switch(arguments: &[&str]) -> Result<bool, String> {
    match arguments.first().copied() {
        None | Some("on" | "True" | "true" | "1") => Ok(true),
        Some("off" | "False" | "false" | "0") => Ok(false),
        Some(other) => Err(format!("`{other}` is neither on nor off")),
    }
}

fn change(scene: &mut Scene<'_>, act: impl FnOnce(&mut Watch) -> Result<(), String>) -> Said {
    let property = scene.session.current_property();
    scene.session.change(property, act).map_err(|trouble| trouble.to_string())??;
    Ok(String::new())
}
