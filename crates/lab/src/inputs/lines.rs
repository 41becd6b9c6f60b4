//! Line-based input, from a file or a peer.

use super::{Observation, ObservationError, ObservationInput};
use invigil_decent::system::{ComponentId, System};
use invigil_decent::text;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

/// Lines of a component as an input: one line per round.
pub struct LineInput {
    lines: text::LineReader,
    system: Arc<System>,
}

impl LineInput {
    /// Creates an input from a reader.
    pub fn new(lines: text::LineReader, system: Arc<System>) -> LineInput {
        LineInput { lines, system }
    }

    /// Opens a file.
    ///
    /// # Errors
    /// Fails if it cannot be opened.
    pub fn open(
        path: &Path,
        component: ComponentId,
        system: Arc<System>,
    ) -> Result<LineInput, ObservationError> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| ObservationError::new(&name, error))?;
        Ok(LineInput::new(text::LineReader::new(component, name, BufReader::new(file)), system))
    }
}

impl ObservationInput for LineInput {
    fn next(&mut self, seen: &mut Vec<Observation>) -> Result<bool, ObservationError> {
        let round = self.lines.next(&self.system)?;
        let has_more = round.is_some();
        seen.extend(round.into_iter().flatten());
        Ok(has_more)
    }
}
