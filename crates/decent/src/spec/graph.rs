//! Dependency graphs of monitors: strongly connected components, cycles, depth.

/// Returns the strongly connected components in reverse topological order (Tarjan, not recursive).
pub(super) fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let (mut found, mut stack) = (Vec::new(), Vec::new());
    let (mut number, mut low) = (vec![NEW; edges.len()], vec![0; edges.len()]);
    let mut placed = vec![false; edges.len()];
    let mut count = 0;
    for start in 0..edges.len() {
        let mut path = if number[start] == NEW { vec![(start, 0)] } else { Vec::new() };
        while let Some((at, followed)) = path.last_mut() {
            let at = *at;
            if *followed == 0 && number[at] == NEW {
                (number[at], low[at]) = (count, count);
                count += 1;
                stack.push(at);
            }
            if let Some(&next) = edges[at].get(*followed) {
                *followed += 1;
                if number[next] == NEW {
                    path.push((next, 0));
                } else if !placed[next] {
                    low[at] = low[at].min(number[next]);
                }
                continue;
            }
            path.pop();
            if let Some((before, _)) = path.last() {
                low[*before] = low[*before].min(low[at]);
            }
            if low[at] == number[at] {
                let start = stack.iter().rposition(|node| *node == at).unwrap_or_default();
                let component = stack.split_off(start);
                component.iter().for_each(|node| placed[*node] = true);
                found.push(component);
            }
        }
    }
    found
}

/// Returns whether a strongly connected component contains a cycle.
pub(super) fn is_cycle(edges: &[Vec<usize>], component: &[usize]) -> bool {
    component.len() > 1 || component.iter().any(|node| edges[*node].contains(node))
}

/// Returns the length of the longest path from each node, or `None` if a cycle is reachable.
pub(super) fn depths(edges: &[Vec<usize>]) -> Vec<Option<u32>> {
    let mut depths = vec![None; edges.len()];
    for component in components(edges) {
        if !is_cycle(edges, &component) {
            let node = component[0];
            let mut below = edges[node].iter().map(|next| depths[*next].map(|depth: u32| depth + 1));
            depths[node] = below.try_fold(0, |deepest, depth| Some(deepest.max(depth?)));
        }
    }
    depths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_in_reverse_topological_order() {
        // 0 -> 1 <-> 2 -> 3, 4 -> 4
        let edges = [vec![1], vec![2], vec![1, 3], vec![], vec![4]];
        let mut found = components(&edges);
        found.iter_mut().for_each(|component| component.sort_unstable());
        assert_eq!(found, [vec![3], vec![1, 2], vec![0], vec![4]]);
        assert!(is_cycle(&edges, &[1, 2]) && is_cycle(&edges, &[4]) && !is_cycle(&edges, &[3]));
        assert_eq!(depths(&edges), [None, None, None, Some(0), None]);
    }

    #[test]
    fn depth_of_long_chain_does_not_recurse() {
        let edges: Vec<Vec<usize>> =
            (0..100_000).map(|at| if at > 0 { vec![at - 1] } else { vec![] }).collect();
        assert_eq!(depths(&edges)[99_999], Some(99_999));
        assert_eq!(components(&edges).len(), 100_000);
    }
}
