//! Observations as text: `a:t,b:f`.

use super::{Observation, Periphery, Trouble};
use invigil_decent::system::System;
use invigil_decent::text::pairs;
use std::fmt::Write;

/// Reads the observations of one round: names with `:t` or `:f`, and commas between them. Nothing is no observation.
///
/// ```
/// use invigil_decent::system::System;
/// use invigil_lab::periphery::observations;
///
/// let mut system = System::default();
/// let lamp = system.component("lamp")?;
/// let (on, hot) = (system.proposition(lamp, "on")?, system.proposition(lamp, "hot")?);
/// assert_eq!(observations("on:t, hot:f", &system), Ok(vec![(on, true), (hot, false)]));
/// assert!(observations("on:maybe", &system).unwrap_err().contains("`t` or `f`"));
/// # Ok::<(), invigil_decent::system::Clash>(())
/// ```
///
/// # Errors
/// What is wrong with the text.
pub fn observations(line: &str, system: &System) -> Result<Vec<Observation>, String> {
    pairs(line)
        .map(|pair| {
            let (name, value) = pair?;
            let known = system.find(name).ok_or_else(|| format!("no component observes `{name}`"))?;
            Ok((known, value))
        })
        .collect()
}

/// Writes observations as [`observations`] reads them.
pub fn write_observations(seen: &[Observation], system: &System, line: &mut String) {
    for (at, (proposition, value)) in seen.iter().enumerate() {
        let comma = if at > 0 { "," } else { "" };
        let value = if *value { 't' } else { 'f' };
        // Writing to a string does not fail.
        let _ = write!(line, "{comma}{}:{value}", system.name(*proposition));
    }
}

/// Observations that were written out: the rounds with `>` between them.
///
/// ```
/// use invigil_decent::system::System;
/// use invigil_lab::periphery::{Inputs, Text};
///
/// let mut system = System::default();
/// let lamp = system.component("lamp")?;
/// let on = system.proposition(lamp, "on")?;
/// let mut inputs = Inputs::default();
/// inputs.add(Text::new("on:t>>on:f", &system).unwrap());
/// assert_eq!(inputs.observe(), Ok(Some(vec![(on, true)])));
/// assert_eq!(inputs.observe(), Ok(Some(vec![])));
/// assert_eq!(inputs.observe(), Ok(Some(vec![(on, false)])));
/// assert_eq!(inputs.observe(), Ok(None));
/// # Ok::<(), invigil_decent::system::Clash>(())
/// ```
pub struct Text {
    rounds: std::vec::IntoIter<Vec<Observation>>,
}

impl Text {
    /// Reads all of it.
    ///
    /// # Errors
    /// Which round is wrong, and why.
    pub fn new(text: &str, system: &System) -> Result<Text, Trouble> {
        let rounds = text.split('>').enumerate().map(|(at, round)| {
            observations(round, system).map_err(|words| Trouble::new(format_args!("round {}", at + 1), words))
        });
        Ok(Text { rounds: rounds.collect::<Result<Vec<_>, _>>()?.into_iter() })
    }
}

impl Periphery for Text {
    fn next(&mut self, seen: &mut Vec<Observation>) -> Result<bool, Trouble> {
        let round = self.rounds.next();
        let has_more = round.is_some();
        seen.extend(round.into_iter().flatten());
        Ok(has_more)
    }
}
