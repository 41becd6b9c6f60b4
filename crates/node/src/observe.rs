//! The traces of components: one line for every round, `on:t,hot:f`; an empty line is a round without observations.

use invigil_decent::system::{ComponentId, PropositionId, System};
use invigil_decent::text::pairs;
use std::fmt::Display;
use std::io::{BufRead, Read};

/// The longest line that is read. Whoever writes more makes a mistake.
const LONGEST: u64 = 1 << 20;

/// A trace that is read round by round.
pub struct Lines {
    component: ComponentId,
    /// What it is called in messages.
    name: String,
    from: Box<dyn BufRead + Send>,
    line: usize,
    is_over: bool,
}

impl Lines {
    /// The trace of a component. `name` is for messages.
    pub fn new(component: ComponentId, name: String, from: impl BufRead + Send + 'static) -> Lines {
        Lines { component, name, from: Box::new(from), line: 0, is_over: false }
    }

    /// Whose trace it is.
    pub fn component(&self) -> ComponentId {
        self.component
    }

    /// What was observed in the next round. None if the trace is over.
    ///
    /// # Errors
    /// If the line cannot be read, or if it says something about what the component does not observe.
    pub fn next(&mut self, system: &System) -> Result<Option<Vec<(PropositionId, bool)>>, String> {
        let Some(bytes) = self.bytes()? else { return Ok(None) };
        let line = str::from_utf8(&bytes).map_err(|_| self.trouble("this is not UTF-8"))?;
        let known = |pair| {
            let (name, value) = pair?;
            match system.find(name) {
                Some(known) if system.owner(known) == self.component => Ok((known, value)),
                _ => Err(format!("`{name}` is not observed by {}", system.component_name(self.component))),
            }
        };
        pairs(line).map(known).collect::<Result<_, String>>().map(Some).map_err(|words| self.trouble(words))
    }

    /// Goes on without looking: a node that comes back has seen so many rounds.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn skip(&mut self, rounds: u32) -> Result<(), String> {
        for _ in 0..rounds {
            if self.bytes()?.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn bytes(&mut self) -> Result<Option<Vec<u8>>, String> {
        if self.is_over {
            return Ok(None);
        }
        self.line += 1;
        let mut bytes = Vec::new();
        let read = self.from.by_ref().take(LONGEST).read_until(b'\n', &mut bytes);
        read.map_err(|error| self.trouble(error))?;
        if bytes.len() as u64 == LONGEST && bytes.last() != Some(&b'\n') {
            return Err(self.trouble(format_args!("the line is longer than {LONGEST} bytes")));
        }
        self.is_over = bytes.is_empty();
        Ok((!self.is_over).then_some(bytes))
    }

    fn trouble(&self, words: impl Display) -> String {
        format!("{}:{}: {words}", self.name, self.line)
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
        let lines = |text: &'static [u8]| Lines::new(one, "f".into(), text);
        let mut right = lines(b"a:t\n\na:f");
        assert_eq!(right.next(&system), Ok(Some(vec![(a, true)])));
        right.skip(1).unwrap();
        assert_eq!(right.next(&system), Ok(Some(vec![(a, false)])));
        assert_eq!((right.next(&system), right.next(&system)), (Ok(None), Ok(None)));
        for (text, words) in [
            (&b"b:t"[..], "f:1: `b` is not observed by one"),
            (b"a=t", "f:1: expected a name"),
            (b"\xff", "f:1: this is not UTF-8"),
        ] {
            let wrong = lines(text).next(&system).unwrap_err();
            assert!(wrong.starts_with(words), "{wrong}");
        }
        let mut endless = Lines::new(one, "f".into(), std::io::BufReader::new(std::io::repeat(b'a')));
        assert!(endless.next(&system).unwrap_err().contains("longer"));
    }
}
