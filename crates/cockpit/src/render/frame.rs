//! Stack frames and variables.

use invigil_check::report::{Paint, Style, printable};
use invigil_target::{Frame, Variable};

/// Renders a frame: `queue_push (q=0x4052a0, c=105 'i') at faulty.c:32`.
pub(crate) fn render_frame(frame: &Frame, style: &Style) -> String {
    let arguments: Vec<String> = frame.arguments.iter().map(short_variable).collect();
    let mut text = format!("{} ({})", style.paint(Paint::Title, &frame.function), arguments.join(", "));
    match (&frame.line, &frame.object) {
        (Some(line), _) => {
            let file = line.file.file_name().unwrap_or(line.file.as_os_str()).to_string_lossy();
            text.push_str(&format!(" at {file}:{}", line.line));
        }
        (None, Some(object)) => text.push_str(&format!(" from {}", object.display())),
        (None, None) => text.push_str(&format!(" at {:#x}", frame.address)),
    }
    if frame.inlined {
        text.push_str(&style.paint(Paint::Faint, " (inlined)"));
    }
    text
}

fn short_variable(variable: &Variable) -> String {
    format!("{}={}", variable.name, invigil_check::report::shorten(&printable(&variable.value), 60))
}

/// Renders variables, one per line.
pub(crate) fn render_variables(all: &[Variable], indent: &str) -> String {
    let width = all.iter().map(|variable| variable.name.chars().count()).max().unwrap_or(0);
    all.iter()
        .map(|variable| format!("{indent}{:width$} = {}\n", variable.name, printable_lines(&variable.value)))
        .collect()
}

/// Replaces control characters in a value, except line ends.
pub(crate) fn printable_lines(value: &str) -> String {
    value.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

/// Number of frames up to `main`. The callers of `main` belong to the runtime system and are rarely of interest.
pub(crate) fn up_to_main<'a>(frames: impl ExactSizeIterator<Item = &'a Frame>) -> usize {
    let count = frames.len();
    let mut numbered = frames.enumerate();
    numbered.find(|(_, frame)| frame.function == "main").map_or(count, |(depth, _)| depth + 1)
}

/// Renders the stack with a mark at the selected frame.
pub(crate) fn render_stack(frames: &[Frame], selected: usize, style: &Style) -> String {
    let width = frames.len().saturating_sub(1).to_string().len();
    let line = |(depth, frame): (usize, &Frame)| {
        let mark = if depth == selected { '>' } else { ' ' };
        format!("{mark} #{depth:<width$} {}\n", render_frame(frame, style))
    };
    frames.iter().enumerate().map(line).collect()
}
