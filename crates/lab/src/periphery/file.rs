//! Observations that come line by line, from a file or from a peer.

use super::{Observation, Periphery, Trouble, observations};
use invigil_decent::system::System;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;

/// The longest line that is read. Whoever sends more makes a mistake.
const LONGEST: u64 = 1 << 20;

/// One line for every round, as [`observations`] reads it. An empty line is a round without observations.
pub struct Lines<R> {
    from: R,
    /// What it is called in messages.
    name: String,
    read: usize,
    line: Vec<u8>,
    system: System,
}

impl Lines<BufReader<File>> {
    /// The lines of a file.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(path: &Path, system: System) -> Result<Self, Trouble> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| Trouble::new(&name, error))?;
        Ok(Lines::new(BufReader::new(file), name, system))
    }
}

impl Lines<BufReader<TcpStream>> {
    /// The lines that somebody sends who listens at an address.
    ///
    /// # Errors
    /// If nobody does.
    pub fn connect(address: impl ToSocketAddrs, name: &str, system: System) -> Result<Self, Trouble> {
        let stream = TcpStream::connect(address).map_err(|error| Trouble::new(name, error))?;
        Ok(Lines::new(BufReader::new(stream), name.to_owned(), system))
    }
}

impl<R: BufRead> Lines<R> {
    /// The lines of anything. `name` is for messages.
    pub fn new(from: R, name: String, system: System) -> Lines<R> {
        Lines { from, name, read: 0, line: Vec::new(), system }
    }

    fn trouble(&self, words: impl std::fmt::Display) -> Trouble {
        Trouble::new(format_args!("{}:{}", self.name, self.read), words)
    }
}

impl<R: BufRead + Send> Periphery for Lines<R> {
    fn next(&mut self, seen: &mut Vec<Observation>) -> Result<bool, Trouble> {
        self.line.clear();
        self.read += 1;
        let read = self.from.by_ref().take(LONGEST).read_until(b'\n', &mut self.line);
        let read = read.map_err(|error| self.trouble(error))? as u64;
        if read == LONGEST && self.line.last() != Some(&b'\n') {
            return Err(self.trouble(format_args!("a line is longer than {LONGEST} bytes")));
        }
        let line = str::from_utf8(&self.line).map_err(|_| self.trouble("the line is not UTF-8"))?;
        seen.extend(observations(line, &self.system).map_err(|words| self.trouble(words))?);
        Ok(read > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::TcpListener;

    fn system() -> System {
        let mut system = System::default();
        let one = system.component("one").unwrap();
        system.proposition(one, "a").unwrap();
        system
    }

    fn all(lines: &mut impl Periphery) -> Result<Vec<usize>, Trouble> {
        let mut counts = Vec::new();
        let mut seen = Vec::new();
        while lines.next(&mut seen)? {
            counts.push(std::mem::take(&mut seen).len());
        }
        Ok(counts)
    }

    #[test]
    fn lines_are_rounds_and_mistakes_have_a_place() {
        let mut right = Lines::new(&b"a:t\n\na:f"[..], "f".into(), system());
        assert_eq!(all(&mut right), Ok(vec![1, 0, 1]));
        for (bytes, words) in [
            (&b"a:t\nb:t\n"[..], "f:2: no component observes `b`"),
            (b"a:t\na=t\n", "f:2: expected a name"),
            (b"\xff\n", "f:1: the line is not UTF-8"),
        ] {
            let wrong = all(&mut Lines::new(bytes, "f".into(), system())).unwrap_err();
            assert!(wrong.to_string().starts_with(words), "{wrong}");
        }
        let endless = std::io::repeat(b'a');
        let wrong = all(&mut Lines::new(BufReader::new(endless), "f".into(), system())).unwrap_err();
        assert!(wrong.to_string().contains("longer than"), "{wrong}");
    }

    #[test]
    fn lines_come_from_a_peer() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let peer = std::thread::spawn(move || listener.accept().unwrap().0.write_all(b"a:t\na:f\n").unwrap());
        assert_eq!(all(&mut Lines::connect(address, "peer", system()).unwrap()), Ok(vec![1, 1]));
        peer.join().unwrap();
    }
}
