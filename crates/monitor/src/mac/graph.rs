//! Strongly connected components.

use alloc::vec::Vec;

/// The strongly connected components in reverse topological order: successors first.
///
/// Tarjan's algorithm with an explicit call stack.
pub(super) fn components(graph: &[Vec<u32>]) -> Vec<Vec<u32>> {
    const NEW: u32 = u32::MAX;
    let mut index = alloc::vec![NEW; graph.len()];
    let mut lowlink = alloc::vec![0u32; graph.len()];
    let mut on_stack = alloc::vec![false; graph.len()];
    let (mut stack, mut calls, mut found): (Vec<u32>, Vec<(u32, usize)>, _) =
        (Vec::new(), Vec::new(), Vec::new());
    let mut next = 0;
    for root in 0..graph.len() as u32 {
        if index[root as usize] != NEW {
            continue;
        }
        calls.push((root, 0));
        while let Some((node, edge)) = calls.pop() {
            let at = node as usize;
            if edge == 0 {
                (index[at], lowlink[at], on_stack[at]) = (next, next, true);
                next += 1;
                stack.push(node);
            } else {
                // Return from the previous successor.
                let from = graph[at][edge - 1] as usize;
                if on_stack[from] {
                    lowlink[at] = lowlink[at].min(lowlink[from]);
                }
            }
            if let Some(to) = graph[at].get(edge) {
                calls.push((node, edge + 1));
                let to_at = *to as usize;
                if index[to_at] == NEW {
                    calls.push((*to, 0));
                } else if on_stack[to_at] {
                    lowlink[at] = lowlink[at].min(index[to_at]);
                }
                continue;
            }
            if lowlink[at] == index[at] {
                let first = stack.iter().rposition(|other| *other == node).unwrap_or(0);
                let members: Vec<u32> = stack.drain(first..).collect();
                members.iter().for_each(|member| on_stack[*member as usize] = false);
                found.push(members);
            }
        }
    }
    found
}

/// Finds cycles within components.
pub(super) struct CycleFinder<'g> {
    graph: &'g [Vec<u32>],
    component: Vec<u32>,
    /// Index of each node in the path walked through its component; `u32::MAX` for other nodes.
    path_index: Vec<u32>,
}

impl<'g> CycleFinder<'g> {
    pub(super) fn new(graph: &'g [Vec<u32>], components: &[Vec<u32>]) -> CycleFinder<'g> {
        let mut component = alloc::vec![0; graph.len()];
        for (number, members) in components.iter().enumerate() {
            members.iter().for_each(|member| component[*member as usize] = number as u32);
        }
        CycleFinder { graph, component, path_index: alloc::vec![u32::MAX; graph.len()] }
    }

    /// A cycle in the component of `node`: each node leads to the next, and the last to the first. Call it at most once
    /// for each component.
    pub(super) fn cycle_in_component_of(&mut self, node: u32) -> Vec<u32> {
        let mut path = Vec::new();
        let mut node = node;
        while self.path_index[node as usize] == u32::MAX {
            self.path_index[node as usize] = path.len() as u32;
            path.push(node);
            // In a component with a cycle, every node has a successor in it.
            let inside = |next: &&u32| self.component[**next as usize] == self.component[node as usize];
            node = self.graph[node as usize].iter().find(inside).copied().unwrap_or(node);
        }
        path.drain(..self.path_index[node as usize] as usize);
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn components_follow_their_successors() {
        let graph = vec![vec![1], vec![2, 3], vec![0], vec![4], vec![4], vec![0, 4]];
        assert_eq!(components(&graph), vec![vec![4], vec![3], vec![0, 1, 2], vec![5]]);
        let found = components(&graph);
        assert_eq!(CycleFinder::new(&graph, &found).cycle_in_component_of(2), [2, 0, 1]);
        let chain: Vec<Vec<u32>> =
            (0..200_000).map(|at| if at == 0 { vec![] } else { vec![at - 1] }).collect();
        assert_eq!(components(&chain).len(), 200_000);
        let other: Vec<Vec<u32>> =
            (0..200_000).map(|at| if at == 199_999 { vec![] } else { vec![at + 1] }).collect();
        assert_eq!(components(&other)[0], [199_999]);
    }
}
