//! Random graphs as state spaces, and a naive search.

use invigil_explore::{
    BAD, FAULT, Finding, FindingKind, Path, StateSpace, Successors, Totals, TransitionInfo,
};
use invigil_test_support::Rng;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Nodes with edges: target, action, flags.
#[derive(Debug, Clone)]
pub(crate) struct Graph {
    pub(crate) width: usize,
    pub(crate) initial: Vec<(u32, u32)>,
    pub(crate) edges: Vec<Vec<(u32, u32, u32)>>,
}

impl Graph {
    /// A random graph; not all nodes need be reachable.
    pub(crate) fn random(nodes: u32, random: &Rng) -> Graph {
        let width = 1 + random.below(4) as usize;
        let (degree, reach) = (1 + random.below(4), 1 + random.below(u64::from(nodes)) as u32);
        let (bad, fault, deadlock) = (random.below(3) * 7, random.below(3) * 5, random.below(3) * 9);
        let is_bad: Vec<bool> = (0..nodes).map(|_| random.below(1000) < bad).collect();
        let edge = |from: u32, random: &Rng| {
            // Most edges lead to slightly higher nodes, which gives levels; some lead back.
            let to = (from + random.below(u64::from(reach)) as u32) % nodes;
            let fault = if random.below(1000) < fault { FAULT } else { 0 };
            let flag = if is_bad[to as usize] || random.below(2000) < bad { BAD } else { 0 };
            (to, random.below(3) as u32, if fault != 0 { fault } else { flag })
        };
        let edges = (0..nodes)
            .map(|from| {
                let count = if random.below(1000) < deadlock { 0 } else { 1 + random.below(2 * degree) };
                (0..count).map(|_| edge(from, random)).collect()
            })
            .collect();
        let starts: BTreeSet<u32> = (0..1 + random.below(3)).map(|_| random.below(nodes)).collect();
        let flag = |node: &u32| (*node, if is_bad[*node as usize] { BAD } else { 0 });
        Graph { width, initial: starts.iter().map(flag).collect(), edges }
    }

    /// The words of a node.
    pub(crate) fn words(&self, node: u32) -> Vec<u64> {
        (0..self.width).map(|at| u64::from(node) << (5 * at) ^ at as u64).collect()
    }

    pub(crate) fn node(&self, words: &[u64]) -> u32 {
        words[0] as u32
    }

    /// The expected result of a search.
    pub(crate) fn naive(&self, most_depth: Option<u64>) -> Naive {
        let mut naive = Naive::default();
        let mut level: Vec<u32> = Vec::new();
        for (node, flags) in &self.initial {
            if flags & BAD != 0 {
                naive.bad_steps += 1;
                naive.found.entry((FindingKind::Bad, *node)).or_insert(0);
            }
            if naive.seen.insert(*node) {
                level.push(*node);
            }
        }
        let mut depth = 0;
        while !level.is_empty() {
            naive.totals.depth = depth;
            let is_last = most_depth == Some(depth);
            let mut next = Vec::new();
            for node in level {
                let edges = &self.edges[node as usize];
                if edges.is_empty() {
                    naive.totals.deadlocks += 1;
                    naive.found.entry((FindingKind::Deadlock, node)).or_insert(depth);
                }
                for (to, _, flags) in edges {
                    if flags & FAULT != 0 {
                        naive.totals.faults += 1;
                        naive.found.entry((FindingKind::Fault, node)).or_insert(depth);
                        continue;
                    }
                    naive.totals.transitions += 1;
                    if flags & BAD != 0 {
                        naive.bad_steps += 1;
                        naive.is_cut |= is_last;
                        if !is_last {
                            naive.found.entry((FindingKind::Bad, *to)).or_insert(depth + 1);
                        }
                    }
                    if is_last {
                        naive.is_cut |= !naive.seen.contains(to);
                    } else if naive.seen.insert(*to) {
                        next.push(*to);
                    }
                }
            }
            if is_last {
                break;
            }
            level = next;
            depth += 1;
        }
        naive.totals.states = naive.seen.len() as u64;
        naive
    }

    /// Replays the path of a finding and checks what it shows.
    pub(crate) fn replay(&self, found: &Finding) {
        let Path { states, actions, loop_back, fault } = &found.path;
        assert_eq!(*loop_back, None);
        assert_eq!(states.len(), actions.len() + 1);
        let nodes: Vec<u32> = states.iter().map(|state| self.node(state)).collect();
        for (node, state) in nodes.iter().zip(states) {
            assert_eq!(&**state, &self.words(*node)[..]);
        }
        assert!(self.initial.iter().any(|(node, _)| *node == nodes[0]));
        let mut flags =
            self.initial.iter().filter(|(node, _)| *node == nodes[0]).map(|(_, flags)| *flags).collect();
        for (pair, action) in nodes.windows(2).zip(actions) {
            let edges = self.edges[pair[0] as usize].iter();
            let transition =
                edges.filter(|(to, by, flags)| (to, by) == (&pair[1], action) && flags & FAULT == 0);
            flags = transition.map(|(_, _, flags)| *flags).collect::<Vec<u32>>();
            assert!(!flags.is_empty(), "no such step: {pair:?} by {action}");
        }
        let last = &self.edges[*nodes.last().unwrap() as usize];
        match found.kind {
            FindingKind::Deadlock => assert!(last.is_empty()),
            FindingKind::Bad => assert!(flags.iter().any(|flags| flags & BAD != 0)),
            FindingKind::Fault => {
                assert!(last.iter().any(|(_, by, flags)| Some(*by) == *fault && flags & FAULT != 0));
            }
        }
        assert_eq!(fault.is_some(), found.kind == FindingKind::Fault);
    }
}

impl StateSpace for Graph {
    fn width(&self) -> usize {
        self.width
    }

    fn initial(&self, out: &mut Successors) {
        for (node, flags) in &self.initial {
            out.push(&self.words(*node), TransitionInfo { action: 0, flags: *flags });
        }
    }

    fn successors(&self, state: &[u64], out: &mut Successors) {
        for (to, action, flags) in &self.edges[self.node(state) as usize] {
            out.push(&self.words(*to), TransitionInfo { action: *action, flags: *flags });
        }
    }
}

/// The result of the naive search.
#[derive(Default, Debug)]
pub(crate) struct Naive {
    pub(crate) seen: HashSet<u32>,
    pub(crate) totals: Totals,
    pub(crate) bad_steps: u64,
    /// The length of the shortest path to each finding.
    pub(crate) found: HashMap<(FindingKind, u32), u64>,
    /// Whether some nodes are deeper than the limit.
    pub(crate) is_cut: bool,
}
