//! Removal of duplicate successors of an action.

use invigil_explore::Successors;
use std::collections::HashSet;

/// Maximum number of successors that are compared pairwise; more are hashed.
const MAX_PAIRWISE: usize = 16;

/// Removes duplicates among the successors of the same action, from number `start` on. The first of each is kept.
pub(crate) fn remove_duplicates(out: &mut Successors, start: usize, width: usize) {
    let (mut kept, mut group_start) = (start, start);
    while group_start < out.transitions.len() {
        let action = out.transitions[group_start].action;
        let group_end =
            out.transitions[group_start..].iter().position(|transition| transition.action != action);
        let group_end = group_end.map_or(out.transitions.len(), |length| group_start + length);
        let first_kept = kept;
        let mut seen: HashSet<Box<[u64]>> = HashSet::new();
        for index in group_start..group_end {
            let state = &out.words[index * width..(index + 1) * width];
            let is_new = if group_end - group_start > MAX_PAIRWISE {
                seen.insert(state.into())
            } else {
                !out.words[first_kept * width..kept * width].chunks_exact(width).any(|other| other == state)
            };
            if is_new {
                out.words.copy_within(index * width..(index + 1) * width, kept * width);
                out.transitions[kept] = out.transitions[index];
                kept += 1;
            }
        }
        group_start = group_end;
    }
    out.transitions.truncate(kept);
    out.words.truncate(kept * width);
}
