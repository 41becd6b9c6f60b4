//! Successors that one action gives twice.

use invigil_explore::Successors;
use std::collections::HashSet;

/// Up to this many are compared with each other; more are looked up.
const FEW: usize = 16;

/// Keeps the first of equal successors of the same action, from number `start` on.
pub(crate) fn remove(out: &mut Successors, start: usize, width: usize) {
    let (mut kept, mut at) = (start, start);
    while at < out.taken.len() {
        let action = out.taken[at].action;
        let end = out.taken[at..].iter().position(|taken| taken.action != action);
        let end = end.map_or(out.taken.len(), |more| at + more);
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
                out.taken[kept] = out.taken[from];
                kept += 1;
            }
        }
        at = end;
    }
    out.taken.truncate(kept);
    out.words.truncate(kept * width);
}
