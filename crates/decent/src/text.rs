//! Observations as text: `on:t,hot:f`.

use crate::system::{ComponentId, PropositionId, System};
use std::fmt;
use std::io::{BufRead, Read};

/// The longest line that is read, in bytes. Whoever writes more makes a mistake.
const LONGEST: u64 = 1 << 20;

/// The observations of a line: names with `:t` or `:f`, and commas between them. Nothing is no observation.
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

/// One observation: a name and its value.
fn pair(part: &str) -> Result<(&str, bool), String> {
    match part.split_once(':').map(|(name, value)| (name.trim(), value.trim())) {
        Some((name, "t")) => Ok((name, true)),
        Some((name, "f")) => Ok((name, false)),
        _ => Err(format!(
            "expected a name with `t` or `f` behind a colon, as in `on:t`, found `{}`",
            shortened(part)
        )),
    }
}

/// As much of a text as a message can have.
fn shortened(text: &str) -> String {
    let mut letters = text.chars();
    let mut start: String = letters.by_ref().take(40).collect();
    if letters.next().is_some() {
        start.push('…');
    }
    start
}

/// Observations that cannot be read: where, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The file or peer, and the line.
    pub place: String,
    /// What is wrong, and what would be right.
    pub words: String,
}

impl Trouble {
    /// Trouble at a place.
    pub fn new(place: impl fmt::Display, words: impl fmt::Display) -> Trouble {
        Trouble { place: place.to_string(), words: words.to_string() }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.words)
    }
}

impl std::error::Error for Trouble {}

/// What a component observes, line by line: one line for every round. An empty line is a round without observations.
///
/// ```
/// use invigil_decent::system::System;
/// use invigil_decent::text::Lines;
///
/// let mut system = System::default();
/// let lamp = system.component("lamp")?;
/// let on = system.proposition(lamp, "on")?;
/// let mut lines = Lines::new(lamp, "lamp.trace", &b"on:t\n\non:f"[..]);
/// assert_eq!(lines.next(&system), Ok(Some(vec![(on, true)])));
/// assert_eq!(lines.next(&system), Ok(Some(vec![])));
/// assert_eq!(lines.next(&system), Ok(Some(vec![(on, false)])));
/// assert_eq!(lines.next(&system), Ok(None));
/// # Ok::<(), invigil_decent::system::Clash>(())
/// ```
pub struct Lines {
    component: ComponentId,
    /// What it is called in messages.
    name: String,
    from: Box<dyn BufRead + Send>,
    line: u64,
    bytes: Vec<u8>,
    is_over: bool,
    must_end: bool,
}

impl Lines {
    /// The lines of a component. `name` is for messages.
    pub fn new(
        component: ComponentId,
        name: impl Into<String>,
        from: impl BufRead + Send + 'static,
    ) -> Lines {
        Lines {
            component,
            name: name.into(),
            from: Box::new(from),
            line: 0,
            bytes: Vec::new(),
            is_over: false,
            must_end: false,
        }
    }

    /// The lines of a peer: if it goes away in the middle of one, that one is not complete.
    #[must_use]
    pub fn of_peer(self) -> Lines {
        Lines { must_end: true, ..self }
    }

    /// Whose they are.
    pub fn component(&self) -> ComponentId {
        self.component
    }

    /// What was observed in the next round. None if there are no more.
    ///
    /// # Errors
    /// If the line cannot be read, or if it says something about what the component does not observe.
    pub fn next(&mut self, system: &System) -> Result<Option<Vec<(PropositionId, bool)>>, Trouble> {
        if !self.read()? {
            return Ok(None);
        }
        let line = str::from_utf8(&self.bytes).map_err(|_| self.trouble("this is not UTF-8"))?;
        let known = |pair| {
            let (name, value) = pair?;
            match system.find(name) {
                Some(known) if system.owner(known) == self.component => Ok((known, value)),
                _ => Err(format!(
                    "`{}` is not observed by {}",
                    shortened(name),
                    system.component_name(self.component)
                )),
            }
        };
        pairs(line).map(known).collect::<Result<_, String>>().map(Some).map_err(|words| self.trouble(words))
    }

    /// Goes on without looking: whoever comes back has seen so many rounds.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn skip(&mut self, rounds: u32) -> Result<(), Trouble> {
        for _ in 0..rounds {
            if !self.read()? {
                break;
            }
        }
        Ok(())
    }

    /// Reads a line. False if there is none.
    fn read(&mut self) -> Result<bool, Trouble> {
        if self.is_over {
            return Ok(false);
        }
        self.line += 1;
        self.bytes.clear();
        let read = self.from.by_ref().take(LONGEST).read_until(b'\n', &mut self.bytes);
        read.map_err(|error| self.trouble(error))?;
        let is_cut = self.bytes.last().is_some_and(|last| *last != b'\n');
        if is_cut && self.bytes.len() as u64 == LONGEST {
            return Err(self.trouble(format_args!("the line is longer than {LONGEST} bytes")));
        }
        if is_cut && self.must_end {
            return Err(self.trouble("the other side went away in the middle of the line"));
        }
        self.is_over = self.bytes.is_empty();
        Ok(!self.is_over)
    }

    fn trouble(&self, words: impl fmt::Display) -> Trouble {
        Trouble::new(format_args!("{}:{}", self.name, self.line), words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_rounds_and_mistakes_have_a_place() {
        let mut system = System::default();
        let [one, two] = ["one", "two"].map(|name| system.component(name).unwrap());
        let a = system.proposition(one, "a").unwrap();
        system.proposition(two, "b").unwrap();
        let lines = |text: &'static [u8]| Lines::new(one, "f", text);
        let mut right = lines(b"a:t\n\na:f");
        assert_eq!(right.next(&system), Ok(Some(vec![(a, true)])));
        right.skip(1).unwrap();
        assert_eq!(right.next(&system), Ok(Some(vec![(a, false)])));
        assert_eq!((right.next(&system), right.next(&system)), (Ok(None), Ok(None)));
        for (text, words) in [
            (&b"b:t"[..], "f:1: `b` is not observed by one"),
            (b"a:t\na=t", "f:2: expected a name"),
            (b"\xff", "f:1: this is not UTF-8"),
        ] {
            let mut lines = lines(text);
            let wrong = std::iter::repeat_with(|| lines.next(&system)).find_map(Result::err).unwrap();
            assert!(wrong.to_string().starts_with(words), "{wrong}");
        }
        let mut endless = Lines::new(one, "f", std::io::BufReader::new(std::io::repeat(b'a')));
        assert!(endless.next(&system).unwrap_err().words.contains("longer"));
        let mut cut = lines(b"a:t\na:").of_peer();
        assert!(cut.next(&system).is_ok());
        assert!(cut.next(&system).unwrap_err().to_string().starts_with("f:2: the other side went away"));
    }
}
