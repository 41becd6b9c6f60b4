//! Checkpoints, as the tree they are.

use super::bytes;
use invigil_check::report::{Paint, Style, grouped};
use invigil_session::JointCheckpoint;

/// The checkpoints, each under the one that the run came from.
pub(crate) fn tree(all: &[JointCheckpoint], current: Option<u32>, style: &Style) -> String {
    let mut out = String::new();
    branch(all, None, "", current, style, &mut out);
    out + &limits(all, style)
}

/// What a restore does not bring back, each told once.
fn limits(all: &[JointCheckpoint], style: &Style) -> String {
    let mut told: Vec<&String> = Vec::new();
    let mut out = String::new();
    for limit in all.iter().flat_map(|checkpoint| &checkpoint.limits) {
        if told.contains(&limit) {
            continue;
        }
        told.push(limit);
        let of: Vec<&JointCheckpoint> = all.iter().filter(|other| other.limits.contains(limit)).collect();
        let which = match &of[..] {
            some if some.len() == all.len() => String::new(),
            [one] => format!(" of {}", one.id),
            some => format!(" of {} of them", some.len()),
        };
        out.push_str(&format!("  {}\n", style.paint(Paint::Faint, &format!("limit{which}: {limit}"))));
    }
    out
}

fn branch(
    all: &[JointCheckpoint],
    parent: Option<u32>,
    indent: &str,
    current: Option<u32>,
    style: &Style,
    out: &mut String,
) {
    // A chain is told without indenting each further than the one before.
    let mut children: Vec<&JointCheckpoint> = children(all, parent).collect();
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

/// Those that came from this one. What came from one that is gone came from the beginning.
fn children(all: &[JointCheckpoint], parent: Option<u32>) -> impl Iterator<Item = &JointCheckpoint> {
    let known = |id: u32| all.iter().any(|checkpoint| checkpoint.id == id);
    all.iter().filter(move |checkpoint| checkpoint.parent.filter(|id| known(*id)) == parent)
}

fn line(of: &JointCheckpoint, indent: &str, current: Option<u32>, style: &Style, out: &mut String) {
    let mark = if current == Some(of.id) { '*' } else { ' ' };
    let id = style.paint(Paint::Title, &of.id.to_string());
    let mut words = vec![format!("after event {}", grouped(of.event))];
    if !of.place.is_empty() {
        words.push(format!("in {}", of.place));
    }
    match (of.automatic, of.label.is_empty()) {
        (true, _) => words.push("automatic".to_owned()),
        (false, false) => words.push(format!("\"{}\"", of.label)),
        (false, true) => {}
    }
    words.push(bytes(of.memory));
    if of.restored > 0 {
        words.push(format!("restored {}", times(of.restored)));
    }
    out.push_str(&format!("{mark} {indent}{id}  {}\n", words.join(", ")));
}

fn times(count: u32) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}
