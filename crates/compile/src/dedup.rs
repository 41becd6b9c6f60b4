//! Removal of duplicate successors of an action.

use invigil_explore::Successors;
use std::collections::HashSet;

/// Up to this number, successors are compared pairwise; more are hashed.
const FEW: usize = 16;

/// Keeps the first of equal successors of the same action, from number `start` on.
pub(crate) fn remove_duplicates(out: &mut Successors, start: usize, width: usize) {
    let (mut kept, mut at) = (start, start);
    while at < out.transitions.len() {
        let action = out.transitions[at].action;
        let end = out.transitions[at..].iter().position(|taken| taken.action != action);
        let end = end.map_or(out.transitions.len(), |more| at + more);
        let first = kept;
        let mut seen: HashSet<Box<[u64]>> = HashSet::new();
        for from in at..end {
            let state = &out.words[from * width..(from + 1) * width];
            let is_new = if end - at > FEW {
                seen.insert(state.into())
            } else {
                !out.words[first * width..kept * width].chunks_exact(width).any(|other| other == state)
            };
            if is_new {
                out.words.copy_within(from * width..(from + 1) * width, kept * width);
                out.transitions[kept] = out.transitions[from];
                kept += 1;
            }
        }
        at = end;
    }
    out.transitions.truncate(kept);
    out.words.truncate(kept * width);
}
