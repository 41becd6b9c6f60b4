//! Observations as text: `on:t,hot:f`.

use crate::system::{ComponentId, PropositionId, System};
use std::fmt;
use std::io::{BufRead, Read};

/// Maximum length of a line in bytes. A longer line is an error.
const MAX_LINE: u64 = 1 << 20;

/// Parses the observations of a line: names with `:t` or `:f`, separated by commas. An empty line has no observations.
///
/// ```
/// use invigil_decent::text::pairs;
///
/// let all = |line| pairs(line).collect::<Result<Vec<_>, _>>();
/// assert_eq!(all("on:t, hot:f"), Ok(vec![("on", true), ("hot", false)]));
/// assert_eq!(all(""), Ok(vec![]));
/// assert!(all("on:maybe").unwrap_err().contains("`t` or `f`"));
/// ```
pub fn pairs(line: &str) -> impl Iterator<Item = Result<(&str, bool), String>> {
    line.split(',').map(str::trim).filter(|part| !part.is_empty()).map(pair)
}

/// Parses one observation: a name and its value.
fn pair(part: &str) -> Result<(&str, bool), String> {
    match part.split_once(':').map(|(name, value)| (name.trim(), value.trim())) {
        Some((name, "t")) => Ok((name, true)),
        Some((name, "f")) => Ok((name, false)),
        _ => {
            Err(format!("expected a name, a colon and `t` or `f`, as in `on:t`, found `{}`", truncated(part)))
        }
    }
}

/// Shortens text for messages.
fn truncated(text: &str) -> String {
    let mut letters = text.chars();
    let mut start: String = letters.by_ref().take(40).collect();
    if letters.next().is_some() {
        start.push('…');
    }
    start
}

/// Observations that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservationError {
    /// File or peer, with the line.
    pub location: String,
    /// Error, with remedy.
    pub message: String,
}

impl ObservationError {
    /// Creates an error at a location.
    pub fn new(location: impl fmt::Display, message: impl fmt::Display) -> ObservationError {
        ObservationError { location: location.to_string(), message: message.to_string() }
    }
}

impl fmt::Display for ObservationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.location, self.message)
    }
}

impl std::error::Error for ObservationError {}

/// Reads the observations of a component: one line per round. An empty line is a round without observations.
///
/// ```
/// use invigil_decent::system::System;
/// use invigil_decent::text::LineReader;
///
/// let mut system = System::default();
/// let lamp = system.component("lamp")?;
/// let on = system.proposition(lamp, "on")?;
/// let mut lines = LineReader::new(lamp, "lamp.trace", &b"on:t\n\non:f"[..]);
/// assert_eq!(lines.next(&system), Ok(Some(vec![(on, true)])));
/// assert_eq!(lines.next(&system), Ok(Some(vec![])));
/// assert_eq!(lines.next(&system), Ok(Some(vec![(on, false)])));
/// assert_eq!(lines.next(&system), Ok(None));
/// # Ok::<(), invigil_decent::system::SystemError>(())
/// ```
pub struct LineReader {
    component: ComponentId,
    /// Name for messages.
    name: String,
    from: Box<dyn BufRead + Send>,
    line: u64,
    bytes: Vec<u8>,
    is_at_end: bool,
    requires_newline: bool,
}

impl LineReader {
    /// Creates a reader for a component. `name` is used in messages.
    pub fn new(
        component: ComponentId,
        name: impl Into<String>,
        from: impl BufRead + Send + 'static,
    ) -> LineReader {
        LineReader {
            component,
            name: name.into(),
            from: Box::new(from),
            line: 0,
            bytes: Vec::new(),
            is_at_end: false,
            requires_newline: false,
        }
    }

    /// Reads from a peer: a last line without newline is an error, since the connection was lost within it.
    #[must_use]
    pub fn from_peer(self) -> LineReader {
        LineReader { requires_newline: true, ..self }
    }

    /// Returns the component.
    pub fn component(&self) -> ComponentId {
        self.component
    }

    /// Returns the observations of the next round, or `None` at the end.
    ///
    /// # Errors
    /// Fails if the line is malformed or contains a proposition that the component does not observe.
    pub fn next(&mut self, system: &System) -> Result<Option<Vec<(PropositionId, bool)>>, ObservationError> {
        if !self.read()? {
            return Ok(None);
        }
        let line = str::from_utf8(&self.bytes).map_err(|_| self.error("the line is not valid UTF-8"))?;
        let resolve = |pair| {
            let (name, value) = pair?;
            match system.find_proposition(name) {
                Some(id) if system.owner(id) == self.component => Ok((id, value)),
                _ => Err(format!(
                    "`{}` is not observed by {}",
                    truncated(name),
                    system.component_name(self.component)
                )),
            }
        };
        pairs(line)
            .map(resolve)
            .collect::<Result<_, String>>()
            .map(Some)
            .map_err(|message| self.error(message))
    }

    /// Skips rounds, for a node that resumes a run.
    ///
    /// # Errors
    /// Fails if the lines cannot be read.
    pub fn skip(&mut self, rounds: u32) -> Result<(), ObservationError> {
        for _ in 0..rounds {
            if !self.read()? {
                break;
            }
        }
        Ok(())
    }

    /// Reads a line. Returns false at the end.
    fn read(&mut self) -> Result<bool, ObservationError> {
        if self.is_at_end {
            return Ok(false);
        }
        self.line += 1;
        self.bytes.clear();
        let read = self.from.by_ref().take(MAX_LINE).read_until(b'\n', &mut self.bytes);
        read.map_err(|error| self.error(error))?;
        let is_cut = self.bytes.last().is_some_and(|last| *last != b'\n');
        if is_cut && self.bytes.len() as u64 == MAX_LINE {
            return Err(self.error(format_args!("the line is longer than {MAX_LINE} bytes")));
        }
        if is_cut && self.requires_newline {
            return Err(self.error("the connection was closed in the middle of the line"));
        }
        self.is_at_end = self.bytes.is_empty();
        Ok(!self.is_at_end)
    }

    fn error(&self, message: impl fmt::Display) -> ObservationError {
        ObservationError::new(format_args!("{}:{}", self.name, self.line), message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_a_round_and_errors_name_the_line() {
        let mut system = System::default();
        let [one, two] = ["one", "two"].map(|name| system.component(name).unwrap());
        let a = system.proposition(one, "a").unwrap();
        system.proposition(two, "b").unwrap();
        let lines = |text: &'static [u8]| LineReader::new(one, "f", text);
        let mut right = lines(b"a:t\n\na:f");
        assert_eq!(right.next(&system), Ok(Some(vec![(a, true)])));
        right.skip(1).unwrap();
        assert_eq!(right.next(&system), Ok(Some(vec![(a, false)])));
        assert_eq!((right.next(&system), right.next(&system)), (Ok(None), Ok(None)));
        for (text, message) in [
            (&b"b:t"[..], "f:1: `b` is not observed by one"),
            (b"a:t\na=t", "f:2: expected a name"),
            (b"\xff", "f:1: the line is not valid UTF-8"),
        ] {
            let mut lines = lines(text);
            let wrong = std::iter::repeat_with(|| lines.next(&system)).find_map(Result::err).unwrap();
            assert!(wrong.to_string().starts_with(message), "{wrong}");
        }
        let mut endless = LineReader::new(one, "f", std::io::BufReader::new(std::io::repeat(b'a')));
        assert!(endless.next(&system).unwrap_err().message.contains("longer"));
        let mut cut = lines(b"a:t\na:").from_peer();
        assert!(cut.next(&system).is_ok());
        assert!(cut.next(&system).unwrap_err().to_string().starts_with("f:2: the connection was closed"));
    }
}
