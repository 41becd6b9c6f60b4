//! Tables of states: each record contains the observations of all components in a round.

use super::events::trace_error;
use super::{Observation, ObservationError, RecordedRun, split_by_component};
use invigil_decent::system::{PropositionId, System};
use invigil_expr::value::{Tag, Value};
use invigil_monitor::event::{EventCatalog, EventKind, Param, ParamSource, STATE_EVENT};
use invigil_trace::{Format, Input, ReadEnd, ReadOptions, Schema, read};
use std::ops::ControlFlow;

/// Reads a table in a format whose records can omit the event name (JSON Lines or CSV): each record contains the
/// observations of all components in a round.
///
/// Columns that no component observes (`time`) are ignored; an empty cell or a missing name is no observation. A
/// malformed record is an error: without it, later rounds would be shifted.
///
/// ```
/// use invigil_decent::system::System;
/// use invigil_lab::inputs::read_table;
/// use invigil_trace::{Input, ReadOptions};
///
/// let mut system = System::default();
/// let (lamp, switch) = (system.component("lamp")?, system.component("switch")?);
/// let (on, pressed) = (system.proposition(lamp, "on")?, system.proposition(switch, "pressed")?);
/// let text = "time,on,pressed\n1,true,0\n2,false,\n";
/// let run = read_table(Input::reader("states.csv", text.as_bytes()), &ReadOptions::default(), &system)?;
/// assert_eq!(run, [vec![vec![(on, true)], vec![(on, false)]], vec![vec![(pressed, false)], vec![]]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Fails at the first malformed line.
pub fn read_table(
    input: Input,
    options: &ReadOptions,
    system: &System,
) -> Result<RecordedRun, ObservationError> {
    let name = input.name().to_owned();
    let mut catalog = EventCatalog::default();
    let state = catalog.declare(STATE_EVENT, EventKind::Before);
    let known: Vec<PropositionId> = system.propositions().collect();
    for proposition in &known {
        let field = system.proposition_name(*proposition).to_owned();
        catalog
            .declare_param(state, &Param { source: ParamSource::Name(field.clone()), name: field, ty: None });
    }
    let options = ReadOptions { strict: true, ..options.clone() };
    let mut rounds: Vec<Vec<Observation>> = Vec::new();
    let mut failure = None;
    let summary = read(vec![input], &Schema::new(&catalog), &options, |block| {
        for at in 0..block.batch.len() {
            let event = block.batch.event(at);
            let mut seen = Vec::new();
            for (proposition, value) in known.iter().zip(event.params) {
                match truth(*value, event.text) {
                    Ok(value) => seen.extend(value.map(|value| (*proposition, value))),
                    Err(found) => {
                        failure = Some(ObservationError::new(
                            format_args!("{name}:{}", block.position(at).line),
                            format_args!(
                                "`{}` is neither true nor false: `{found}`",
                                system.proposition_name(*proposition)
                            ),
                        ));
                        return ControlFlow::Break(());
                    }
                }
            }
            rounds.push(seen);
        }
        ControlFlow::Continue(())
    });
    if let Some(error) = failure {
        return Err(error);
    }
    // Lines without a known column are detected as a list of events.
    if summary.formats.contains(&Format::PlainLines) && (summary.lines > 0 || rounds.is_empty()) {
        return Err(ObservationError::new(name, NOT_A_STATE_TABLE));
    }
    if let ReadEnd::Failed(error) = summary.end {
        return Err(trace_error(&error));
    }
    if summary.ignored > 0 {
        let message = "its records name an event: this is an event log, use `--events`";
        return Err(ObservationError::new(name, message));
    }
    Ok(split_by_component(&rounds, system))
}

const NOT_A_STATE_TABLE: &str = "this is not a table of states: no column of its first line is a proposition of a component; \
    a table is CSV with names in its first line (a single column needs `--format csv`), or lines of JSON; \
    use `--events` for an event log";

/// Returns the Boolean value of a cell; none if it is empty.
fn truth(value: Value, text: &str) -> Result<Option<bool>, String> {
    if value.is_unset() || value.tag() == Tag::None {
        return Ok(None);
    }
    if let Some(truth) = value.as_bool() {
        return Ok(Some(truth));
    }
    let word = match (value.as_int(), value.as_float(), value.as_short(), value.as_text()) {
        (Some(number), ..) => number.to_string(),
        (_, Some(number), ..) => number.to_string(),
        (.., Some(short), _) => short.to_owned(),
        (.., Some((start, len))) => {
            let whole = text.get(start as usize..start as usize + len as usize).unwrap_or("");
            format!("{}…", whole.chars().take(40).collect::<String>())
        }
        _ => String::new(),
    };
    match word.to_ascii_lowercase().as_str() {
        "true" | "t" | "1" => Ok(Some(true)),
        "false" | "f" | "0" => Ok(Some(false)),
        _ => Err(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn system() -> System {
        let mut system = System::default();
        let one = system.component("one").unwrap();
        system.proposition(one, "a").unwrap();
        system.proposition(one, "b").unwrap();
        system
    }

    fn read(text: &'static str, format: Option<Format>) -> Result<RecordedRun, ObservationError> {
        let options = ReadOptions { format, ..ReadOptions::default() };
        read_table(Input::reader("t", Cursor::new(text)), &options, &system())
    }

    #[test]
    fn all_spellings_of_booleans_are_read() {
        let rows = read("a;b\ntrue;0\nFALSE;\"1\"\nT;f\n;\n", None).unwrap();
        let values: Vec<Vec<bool>> =
            rows[0].iter().map(|round| round.iter().map(|(_, value)| *value).collect()).collect();
        assert_eq!(values, [vec![true, false], vec![false, true], vec![true, false], vec![]]);
        let lines = read("{\"a\": true}\n\n{\"b\": 0, \"a\": null, \"c\": 7}\n", None).unwrap();
        assert_eq!(lines[0].iter().map(Vec::len).collect::<Vec<_>>(), [1, 1]);
        assert_eq!(read("a\n1\n0\n", Some(Format::Csv)).unwrap()[0].len(), 2);
    }

    #[test]
    fn malformed_table_is_reported_with_line() {
        for (text, message) in [
            ("time,c\n1,2\n", "t: this is not a table of states"),
            ("a\n1\n", "t: this is not a table of states"),
            ("", "t: this is not a table of states"),
            ("a,b\ntrue,1\nmaybe,1\n", "t:3: `a` is neither true nor false: `maybe`"),
            ("a,b\n1,1\n1\n", "t:3: the line has 1 cell, the header 2"),
            ("{\"a\": true}\n{\"a\": 3}\n", "t:2: `a` is neither"),
            ("{\"a\": true\n", "t:1: "),
            ("event,a\nopen,1\n", "t: its records name an event"),
        ] {
            let wrong = read(text, None).unwrap_err().to_string();
            assert!(wrong.starts_with(message), "{wrong}");
        }
    }
}
