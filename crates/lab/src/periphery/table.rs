//! Tables of states: CSV with the names of propositions in its head, or lines of JSON.

use super::{Run, Trouble, spread};
use invigil_decent::system::{PropositionId, System};
use serde_json::{Map, Value};

/// Reads a table: each record is what all components observe in a round. Columns that no component observes (`time`) are left
/// alone; an empty cell, and a name that is missing, is no observation.
///
/// ```
/// use invigil_decent::system::System;
/// use invigil_lab::periphery::table;
///
/// let mut system = System::default();
/// let (lamp, switch) = (system.component("lamp")?, system.component("switch")?);
/// let (on, pressed) = (system.proposition(lamp, "on")?, system.proposition(switch, "pressed")?);
/// let run = table("time,on,pressed\n1,true,0\n2,false,\n", "states.csv", &system)?;
/// assert_eq!(run, [vec![vec![(on, true)], vec![(on, false)]], vec![vec![(pressed, false)], vec![]]]);
/// assert_eq!(table("{\"on\": true}\n{\"pressed\": false}", "states.jsonl", &system)?[1][1], [(pressed, false)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// What is wrong, and in which line.
pub fn table(text: &str, name: &str, system: &System) -> Result<Run, Trouble> {
    match text.trim_start().starts_with('{') {
        true => json(text, name, system),
        false => csv(text, name, system),
    }
}

fn csv(text: &str, name: &str, system: &System) -> Result<Run, Trouble> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let head = reader.headers().map_err(|error| Trouble::new(name, error))?.clone();
    let columns: Vec<Option<PropositionId>> = head.iter().map(|column| system.find(column)).collect();
    if columns.iter().all(Option::is_none) {
        let words = "no column is a proposition that a component observes: the first line names them";
        return Err(Trouble::new(format_args!("{name}:1"), words));
    }
    let mut rounds = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| Trouble::new(name, error))?;
        let line = record.position().map_or(0, csv::Position::line);
        let mut seen = Vec::new();
        let cells = columns.iter().zip(record.iter());
        for (known, cell) in cells.filter_map(|(known, cell)| Some(((*known)?, cell))) {
            match cell.to_ascii_lowercase().as_str() {
                "true" | "t" | "1" => seen.push((known, true)),
                "false" | "f" | "0" => seen.push((known, false)),
                "" => {}
                _ => return Err(neither(name, line, system.name(known), cell)),
            }
        }
        rounds.push(seen);
    }
    Ok(spread(&rounds, system))
}

fn json(text: &str, name: &str, system: &System) -> Result<Run, Trouble> {
    let mut rounds = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line_number = at as u64 + 1;
        let record: Map<String, Value> = serde_json::from_str(line)
            .map_err(|error| Trouble::new(format_args!("{name}:{line_number}"), error))?;
        let mut seen = Vec::new();
        for (field, value) in &record {
            let Some(known) = system.find(field) else { continue };
            match value {
                Value::Bool(value) => seen.push((known, *value)),
                Value::Null => {}
                other => return Err(neither(name, line_number, field, &other.to_string())),
            }
        }
        rounds.push(seen);
    }
    Ok(spread(&rounds, system))
}

fn neither(name: &str, line: u64, column: &str, found: &str) -> Trouble {
    Trouble::new(
        format_args!("{name}:{line}"),
        format_args!("`{column}` is neither true nor false: `{found}`"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_have_a_place() {
        let mut system = System::default();
        let one = system.component("one").unwrap();
        system.proposition(one, "a").unwrap();
        for (text, words) in [
            ("time,b\n1,2\n", "t:1: no column is a proposition"),
            ("a\ntrue\nmaybe\n", "t:3: `a` is neither true nor false: `maybe`"),
            ("{\"a\": true}\n{\"a\": 3}\n", "t:2: `a` is neither"),
            ("{\"a\": true\n", "t:1: EOF"),
            ("", "t:1: no column"),
        ] {
            let wrong = table(text, "t", &system).unwrap_err().to_string();
            assert!(wrong.starts_with(words), "{wrong}");
        }
    }
}
