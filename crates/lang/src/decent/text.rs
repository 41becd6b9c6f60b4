//! Texts assembled from parts of a source, with a map to their positions.

use invigil_expr::diag::{SourceId, Span};
use std::ops::Range;

/// A text whose parts come from a source.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    source: SourceId,
    text: String,
    /// For each part: its start, its range in the source, and whether it is copied verbatim.
    pieces: Vec<(usize, Range<usize>, bool)>,
}

impl Text {
    pub(crate) fn new(source: SourceId) -> Text {
        Text { source, text: String::new(), pieces: Vec::new() }
    }

    /// Appends a verbatim part of the source.
    pub(crate) fn copy(&mut self, text: &str, start: usize) {
        self.pieces.push((self.text.len(), start..start + text.len(), true));
        self.text.push_str(text);
    }

    /// Appends a text that replaces a range of the source.
    pub(crate) fn put(&mut self, text: &str, instead_of: Range<usize>) {
        self.pieces.push((self.text.len(), instead_of, false));
        self.text.push_str(text);
    }

    /// Appends another text on a new line.
    pub(crate) fn append(&mut self, other: &Text) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let shift = self.text.len();
        self.pieces.extend(
            other
                .pieces
                .iter()
                .map(|(offset, origin, is_verbatim)| (offset + shift, origin.clone(), *is_verbatim)),
        );
        self.text.push_str(&other.text);
    }

    /// Returns a part of the text.
    pub(crate) fn part(&self, range: Range<usize>) -> Text {
        let mut part = Text::new(self.source);
        for (at, (offset, origin, is_verbatim)) in self.pieces.iter().enumerate() {
            let end = self.pieces.get(at + 1).map_or(self.text.len(), |(next, ..)| *next);
            let (from, to) = (range.start.max(*offset), range.end.min(end));
            if from >= to {
                continue;
            }
            let text = &self.text[from..to];
            if *is_verbatim {
                let start = origin.start + (from - offset);
                part.pieces.push((part.text.len(), start..origin.end, true));
                part.text.push_str(text);
            } else {
                part.put(text, origin.clone());
            }
        }
        part
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the source span of a range of this text.
    pub(crate) fn span(&self, range: Range<usize>) -> Span {
        let piece = |at: usize| {
            let number = self.pieces.partition_point(|(offset, ..)| *offset <= at).saturating_sub(1);
            self.pieces.get(number)
        };
        let start = match piece(range.start) {
            Some((offset, origin, true)) => {
                (origin.start + range.start.saturating_sub(*offset)).min(origin.end)
            }
            Some((_, origin, false)) => origin.start,
            None => 0,
        };
        let end = match piece(range.end.saturating_sub(1).max(range.start)) {
            Some((offset, origin, true)) => {
                (origin.start + range.end.saturating_sub(*offset)).min(origin.end)
            }
            Some((_, origin, false)) => origin.end,
            None => 0,
        };
        Span::new(self.source, start as u32, end.max(start) as u32)
    }
}
