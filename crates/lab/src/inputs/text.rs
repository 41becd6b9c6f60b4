//! Observations as text: `a:t,b:f`.

use super::{Observation, ObservationError, ObservationInput};
use invigil_decent::system::System;
use invigil_decent::text::pairs;
use std::fmt::Write;

/// Parses the observations of one round: names with `:t` or `:f`, separated by commas. Empty text has no observations.
///
/// ```
/// use invigil_decent::system::System;
/// use invigil_lab::inputs::parse_observations;
///
/// let mut system = System::default();
/// let lamp = system.component("lamp")?;
/// let (on, hot) = (system.proposition(lamp, "on")?, system.proposition(lamp, "hot")?);
/// assert_eq!(parse_observations("on:t, hot:f", &system), Ok(vec![(on, true), (hot, false)]));
/// assert!(parse_observations("on:maybe", &system).unwrap_err().contains("`t` or `f`"));
/// # Ok::<(), invigil_decent::system::SystemError>(())
/// ```
///
/// # Errors
/// Returns the error in the text.
pub fn parse_observations(line: &str, system: &System) -> Result<Vec<Observation>, String> {
    pairs(line)
        .map(|pair| {
            let (name, value) = pair?;
            let known =
                system.find_proposition(name).ok_or_else(|| format!("no component observes `{name}`"))?;
            Ok((known, value))
        })
        .collect()
}

/// Writes observations in the format of [`parse_observations`].
pub fn write_observations(seen: &[Observation], system: &System, line: &mut String) {
    for (at, (proposition, value)) in seen.iter().enumerate() {
        let comma = if at > 0 { "," } else { "" };
        let value = if *value { 't' } else { 'f' };
        // Writing to a string does not fail.
        let _ = write!(line, "{comma}{}:{value}", system.proposition_name(*proposition));
    }
}

/// Observations in one text, with `>` between rounds.
///
/// ```
/// use invigil_decent::system::System;
/// use invigil_lab::inputs::{ComponentInputs, TextInput};
///
/// let mut system = System::default();
/// let lamp = system.component("lamp")?;
/// let on = system.proposition(lamp, "on")?;
/// let mut inputs = ComponentInputs::default();
/// inputs.add(TextInput::new("on:t>>on:f", &system).unwrap());
/// assert_eq!(inputs.observe(), Ok(Some(vec![(on, true)])));
/// assert_eq!(inputs.observe(), Ok(Some(vec![])));
/// assert_eq!(inputs.observe(), Ok(Some(vec![(on, false)])));
/// assert_eq!(inputs.observe(), Ok(None));
/// # Ok::<(), invigil_decent::system::SystemError>(())
/// ```
pub struct TextInput {
    rounds: std::vec::IntoIter<Vec<Observation>>,
}

impl TextInput {
    /// Parses the text.
    ///
    /// # Errors
    /// Fails at the first malformed round.
    pub fn new(text: &str, system: &System) -> Result<TextInput, ObservationError> {
        let rounds = text.split('>').enumerate().map(|(at, round)| {
            parse_observations(round, system)
                .map_err(|message| ObservationError::new(format_args!("round {}", at + 1), message))
        });
        Ok(TextInput { rounds: rounds.collect::<Result<Vec<_>, _>>()?.into_iter() })
    }
}

impl ObservationInput for TextInput {
    fn next(&mut self, seen: &mut Vec<Observation>) -> Result<bool, ObservationError> {
        let round = self.rounds.next();
        let has_more = round.is_some();
        seen.extend(round.into_iter().flatten());
        Ok(has_more)
    }
}
