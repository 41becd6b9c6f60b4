//! Lines of the program's sources.

use invigil_check::report::{Paint, Style};
use std::fs;
use std::path::Path;

/// A longer file is not one that a person wrote.
const LARGEST: u64 = 64 << 20;

/// The lines of a source file.
pub(crate) fn read(file: &Path) -> Result<Vec<String>, String> {
    let name = file.display();
    let size =
        fs::metadata(file).map_err(|error| format!("the source file {name} cannot be read: {error}"))?;
    if size.len() > LARGEST {
        return Err(format!("the source file {name} is too long to be shown"));
    }
    let bytes = fs::read(file).map_err(|error| format!("the source file {name} cannot be read: {error}"))?;
    let text = String::from_utf8_lossy(&bytes);
    let plain = |line: &str| {
        let line = line.trim_end_matches('\r').replace('\t', "    ");
        line.chars().map(|c| if c.is_control() { '·' } else { c }).collect()
    };
    Ok(text.split('\n').map(plain).collect())
}

/// Lines `from..to`, counted from one, with their numbers; the current one is marked.
pub(crate) fn lines(all: &[String], from: u32, to: u32, current: Option<u32>, style: &Style) -> String {
    let width = to.to_string().len();
    let mut out = String::new();
    for number in from.max(1)..to {
        let Some(text) = all.get(number as usize - 1) else { break };
        let is_current = current == Some(number);
        let (mark, paint) = if is_current { ('>', Paint::Title) } else { (' ', Paint::Plain) };
        let number = style.paint(Paint::Faint, &format!("{number:>width$} |"));
        let line = format!("{mark} {number} {}", style.paint(paint, text));
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// A few lines around one; empty if they cannot be read.
pub(crate) fn around(file: &Path, line: u32, context: u32, style: &Style) -> String {
    match read(file) {
        Ok(all) => {
            // A file that ends with a line end has no line after it.
            let count = all.len() as u32 - u32::from(all.last().is_some_and(String::is_empty));
            let (from, to) = (line.saturating_sub(context), (line + context + 1).min(count + 1));
            lines(&all, from, to, Some(line), style)
        }
        Err(words) => format!("  {}\n", style.paint(Paint::Faint, &format!("({words})"))),
    }
}
