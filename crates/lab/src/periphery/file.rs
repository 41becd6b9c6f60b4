//! Observations that come line by line, from a file or from a peer.

use super::{Observation, Periphery, Trouble};
use invigil_decent::system::{ComponentId, System};
use invigil_decent::text;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

/// The lines of a component as a periphery: one line for every round.
pub struct Lines {
    lines: text::Lines,
    system: Arc<System>,
}

impl Lines {
    /// Lines that come from anywhere.
    pub fn new(lines: text::Lines, system: Arc<System>) -> Lines {
        Lines { lines, system }
    }

    /// The lines of a file.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(path: &Path, component: ComponentId, system: Arc<System>) -> Result<Lines, Trouble> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| Trouble::new(&name, error))?;
        Ok(Lines::new(text::Lines::new(component, name, BufReader::new(file)), system))
    }
}

impl Periphery for Lines {
    fn next(&mut self, seen: &mut Vec<Observation>) -> Result<bool, Trouble> {
        let round = self.lines.next(&self.system)?;
        let has_more = round.is_some();
        seen.extend(round.into_iter().flatten());
        Ok(has_more)
    }
}
