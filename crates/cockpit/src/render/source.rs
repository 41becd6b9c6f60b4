//! Source lines.

use invigil_check::report::{Paint, Style};
use std::fs;
use std::path::Path;

/// Maximum size of a source file: larger files are generated.
const MAX_FILE_SIZE: u64 = 64 << 20;

/// Reads a source file as lines, with tabs and control characters replaced.
pub(crate) fn read(file: &Path) -> Result<Vec<String>, String> {
    let name = file.display();
    let size = fs::metadata(file).map_err(|error| format!("cannot read source file {name}: {error}"))?;
    if size.len() > MAX_FILE_SIZE {
        return Err(format!("source file {name} is too large to show"));
    }
    let bytes = fs::read(file).map_err(|error| format!("cannot read source file {name}: {error}"))?;
    let text = String::from_utf8_lossy(&bytes);
    let plain = |line: &str| {
        let line = line.trim_end_matches('\r').replace('\t', "    ");
        line.chars().map(|c| if c.is_control() { '·' } else { c }).collect()
    };
    Ok(text.split('\n').map(plain).collect())
}

/// Renders lines `from..to`, counted from 1, with line numbers and a mark at the current line.
pub(crate) fn render_lines(
    all: &[String],
    from: u32,
    to: u32,
    current: Option<u32>,
    style: &Style,
) -> String {
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

/// Renders `context` lines around a line, or the reason why the file cannot be read.
pub(crate) fn render_around(file: &Path, line: u32, context: u32, style: &Style) -> String {
    match read(file) {
        Ok(all) => {
            // A trailing line end does not start another line.
            let count = all.len() as u32 - u32::from(all.last().is_some_and(String::is_empty));
            let (from, to) = (line.saturating_sub(context), (line + context + 1).min(count + 1));
            render_lines(&all, from, to, Some(line), style)
        }
        Err(message) => format!("  {}\n", style.paint(Paint::Faint, &format!("({message})"))),
    }
}
