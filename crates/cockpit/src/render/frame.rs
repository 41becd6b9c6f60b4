//! Stack frames and variables.

use invigil_check::report::{Paint, Style, printable};
use invigil_session::target::{Frame, Variable};

/// Renders a frame: `queue_push (q=0x4052a0, c=105 'i') at faulty.c:32`.
pub(crate) fn frame(frame: &Frame, style: &Style) -> String {
    let arguments: Vec<String> = frame.arguments.iter().map(variable_short).collect();
    let mut words = format!("{} ({})", style.paint(Paint::Title, &frame.function), arguments.join(", "));
    match (&frame.line, &frame.object) {
        (Some(line), _) => {
            let file = line.file.file_name().unwrap_or(line.file.as_os_str()).to_string_lossy();
            words.push_str(&format!(" at {file}:{}", line.line));
        }
        (None, Some(object)) => words.push_str(&format!(" from {}", object.display())),
        (None, None) => words.push_str(&format!(" at {:#x}", frame.address)),
    }
    if frame.inlined {
        words.push_str(&style.paint(Paint::Faint, " (inlined)"));
    }
    words
}

fn variable_short(variable: &Variable) -> String {
    format!("{}={}", variable.name, invigil_check::report::shorten(&printable(&variable.value), 60))
}

/// Renders variables, one per line.
pub(crate) fn variables(all: &[Variable], indent: &str) -> String {
    let width = all.iter().map(|variable| variable.name.chars().count()).max().unwrap_or(0);
    all.iter()
        .map(|variable| format!("{indent}{:width$} = {}\n", variable.name, lines(&variable.value)))
        .collect()
}

/// Replaces control characters in a value, except line ends.
pub(crate) fn lines(value: &str) -> String {
    value.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

/// Number of frames up to `main`. The callers of `main` belong to the runtime system and are rarely of interest.
pub(crate) fn up_to_main<'a>(frames: impl ExactSizeIterator<Item = &'a Frame>) -> usize {
    let count = frames.len();
    let mut at = frames.enumerate();
    at.find(|(_, frame)| frame.function == "main").map_or(count, |(depth, _)| depth + 1)
}

/// Renders the stack with a mark at the selected frame.
pub(crate) fn stack(frames: &[Frame], selected: usize, style: &Style) -> String {
    let width = frames.len().saturating_sub(1).to_string().len();
    let line = |(depth, of): (usize, &Frame)| {
        let mark = if depth == selected { '>' } else { ' ' };
        format!("{mark} #{depth:<width$} {}\n", frame(of, style))
    };
    frames.iter().enumerate().map(line).collect()
}
