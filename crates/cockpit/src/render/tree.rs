//! The tree of checkpoints.

use super::bytes;
use invigil_check::report::{Paint, Style, grouped};
use invigil_session::CheckpointInfo;

/// Renders the checkpoints, each below the one from which its run continued.
pub(crate) fn tree(all: &[CheckpointInfo], current: Option<u32>, style: &Style) -> String {
    let mut out = String::new();
    branch(all, None, "", current, style, &mut out);
    out + &limitations(all, style)
}

/// Renders the limitations of the checkpoints: what a restore does not bring back. Each is listed once.
fn limitations(all: &[CheckpointInfo], style: &Style) -> String {
    let mut listed: Vec<&String> = Vec::new();
    let mut out = String::new();
    for limit in all.iter().flat_map(|checkpoint| &checkpoint.limitations) {
        if listed.contains(&limit) {
            continue;
        }
        listed.push(limit);
        let concerned: Vec<&CheckpointInfo> =
            all.iter().filter(|other| other.limitations.contains(limit)).collect();
        let which = match &concerned[..] {
            some if some.len() == all.len() => String::new(),
            [one] => format!(" of {}", one.id),
            some => format!(" of {} of them", some.len()),
        };
        out.push_str(&format!("  {}\n", style.paint(Paint::Faint, &format!("limitation{which}: {limit}"))));
    }
    out
}

fn branch(
    all: &[CheckpointInfo],
    parent: Option<u32>,
    indent: &str,
    current: Option<u32>,
    style: &Style,
    out: &mut String,
) {
    // A chain of single children stays at one indentation level.
    let mut children: Vec<&CheckpointInfo> = children(all, parent).collect();
    while let [only] = children[..] {
        line(only, indent, current, style, out);
        children = self::children(all, Some(only.id)).collect();
    }
    for (at, child) in children.iter().enumerate() {
        let is_last = at + 1 == children.len();
        let (mark, below) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        line(child, &format!("{indent}{mark}"), current, style, out);
        branch(all, Some(child.id), &format!("{indent}{below}"), current, style, out);
    }
}

/// The children of a checkpoint. A checkpoint whose parent was deleted is a root.
fn children(all: &[CheckpointInfo], parent: Option<u32>) -> impl Iterator<Item = &CheckpointInfo> {
    let known = |id: u32| all.iter().any(|checkpoint| checkpoint.id == id);
    all.iter().filter(move |checkpoint| checkpoint.parent.filter(|id| known(*id)) == parent)
}

fn line(checkpoint: &CheckpointInfo, indent: &str, current: Option<u32>, style: &Style, out: &mut String) {
    let mark = if current == Some(checkpoint.id) { '*' } else { ' ' };
    let id = style.paint(Paint::Title, &checkpoint.id.to_string());
    let mut parts = vec![format!("after event {}", grouped(checkpoint.event_count))];
    if !checkpoint.location.is_empty() {
        parts.push(format!("in {}", checkpoint.location));
    }
    match (checkpoint.automatic, checkpoint.label.is_empty()) {
        (true, _) => parts.push("automatic".to_owned()),
        (false, false) => parts.push(format!("\"{}\"", checkpoint.label)),
        (false, true) => {}
    }
    parts.push(bytes(checkpoint.memory));
    if checkpoint.restore_count > 0 {
        parts.push(format!("restored {}", repeat_count(checkpoint.restore_count)));
    }
    out.push_str(&format!("{mark} {indent}{id}  {}\n", parts.join(", ")));
}

fn repeat_count(count: u32) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}
