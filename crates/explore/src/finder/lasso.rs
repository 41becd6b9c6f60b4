//! Infinite executions: a way to a cycle that is in every acceptance set.
//!
//! A debugger asks for these on any subject, so the whole graph is built, in breadth, and its strongly connected
//! components are looked at. Searches on the fly over spaces of words are for model checking.

use crate::finder::stop::Edges;
use crate::finder::trail::{Met, Trail};
use crate::finder::{Execution, Finder, Found, Witness};
use indexmap::IndexMap;
use invigil_semantics::{Semantics, Step};
use std::collections::VecDeque;

/// An edge of the product of subject and automaton; the action is none where the subject stays because it is stuck.
struct Link<A> {
    action: Option<A>,
    marks: u64,
    to: u32,
}

type Links<A> = Vec<Vec<Link<A>>>;

/// One execution that an automaton accepts for each component with one, that nearest to the starts first.
pub(crate) fn find<S: Semantics>(
    finder: &Finder<'_, S>,
    starts: &[S::Config],
    automaton: &dyn Edges<S>,
) -> Found<S::Config, S::Action> {
    let subject = finder.subject;
    let mut trail = Trail::new(finder.limits, finder.pulse, finder.reduction);
    let mut failed = None;
    let mut taken = Vec::new();
    for start in starts {
        taken.clear();
        let read = automaton.edges(subject, Step::initial(start), automaton.initial(), &mut taken);
        failed = failed.or(read.err());
        for (state, _) in taken.drain(..) {
            trail.meet(None, start.clone(), state);
        }
    }
    let mut links: Links<S::Action> = Vec::new();
    while let Some((config, state)) = trail.at(links.len() as u32) {
        let node = links.len() as u32;
        if trail.is_over(node) {
            break;
        }
        let mut from_here = Vec::new();
        if trail.is_within_depth(node) {
            let mut is_stuck = true;
            for (action, target) in subject.steps(&config) {
                is_stuck = false;
                trail.totals.transitions += 1;
                let step = Step::taken(&config, &action, &target);
                failed = failed.or(automaton.edges(subject, step, state, &mut taken).err());
                for (state, marks) in taken.drain(..) {
                    match trail.meet(Some((node, &action)), target.clone(), state) {
                        Met::New(to) | Met::Known(to) => {
                            from_here.push(Link { action: Some(action.clone()), marks, to });
                        }
                        Met::Skipped => {}
                    }
                }
            }
            if is_stuck {
                let step = Step::idle(&config, &config);
                failed = failed.or(automaton.edges(subject, step, state, &mut taken).err());
                for (state, marks) in taken.drain(..) {
                    // How one came to the stuck configuration is what is told; staying there is no action.
                    match trail.stay(node, config.clone(), state) {
                        Met::New(to) | Met::Known(to) => from_here.push(Link { action: None, marks, to }),
                        Met::Skipped => {}
                    }
                }
            }
        }
        links.push(from_here);
    }
    // What was met and not explored has no successors that we know of.
    links.resize_with(trail.totals.states as usize, Vec::new);
    let component = components(&links);
    let lasso = |entry: u32| {
        let mut execution = trail.way(entry)?;
        let back = execution.len();
        for link in cycle(&links, &component, automaton.all_marks(), entry) {
            // Where the subject stays, only the automaton moves.
            if let (Some(action), Some((config, _))) = (&link.action, trail.at(link.to)) {
                execution.steps.push((action.clone(), config));
            }
        }
        Some(Execution { back: Some(back), ..execution })
    };
    let mut witnesses = Vec::new();
    for entries in entries(&links, &component, automaton.all_marks()).into_iter().take(finder.most) {
        let shortest = entries.into_iter().filter_map(lasso).min_by_key(Execution::len);
        witnesses.extend(shortest.map(|execution| Witness { execution, hits: Vec::new() }));
    }
    Found { witnesses, failed, ..trail.end() }
}

/// How many nodes of a component are tried as the beginning of the part that repeats: trying more finds shorter
/// executions.
const TRIED: usize = 32;

/// The strongly connected component of each node (Tarjan's algorithm, without recursion).
fn components<A>(links: &Links<A>) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let (mut index, mut low) = (vec![NONE; links.len()], vec![NONE; links.len()]);
    let mut component = vec![NONE; links.len()];
    let (mut stack, mut open) = (Vec::new(), Vec::new());
    let (mut count, mut found) = (0, 0);
    for root in 0..links.len() {
        if index[root] != NONE {
            continue;
        }
        open.push((root, 0));
        while let Some((node, at)) = open.pop() {
            if at == 0 {
                (index[node], low[node]) = (count, count);
                count += 1;
                stack.push(node);
            }
            if let Some(link) = links[node].get(at) {
                open.push((node, at + 1));
                let to = link.to as usize;
                if index[to] == NONE {
                    open.push((to, 0));
                } else if component[to] == NONE {
                    low[node] = low[node].min(index[to]);
                }
                continue;
            }
            if low[node] == index[node] {
                while let Some(member) = stack.pop() {
                    component[member] = found;
                    if member == node {
                        break;
                    }
                }
                found += 1;
            }
            if let Some((parent, _)) = open.last() {
                low[*parent] = low[*parent].min(low[node]);
            }
        }
    }
    component
}

/// The first nodes of each component that has a cycle in all acceptance sets.
fn entries<A>(links: &Links<A>, component: &[u32], all: u64) -> Vec<Vec<u32>> {
    let count = component.iter().max().map_or(0, |most| *most as usize + 1);
    let (mut marks, mut is_cyclic) = (vec![0; count], vec![false; count]);
    for (node, from_here) in links.iter().enumerate() {
        for link in from_here.iter().filter(|link| component[link.to as usize] == component[node]) {
            marks[component[node] as usize] |= link.marks;
            is_cyclic[component[node] as usize] = true;
        }
    }
    let mut entries: IndexMap<u32, Vec<u32>> = IndexMap::new();
    for (node, of) in (0..).zip(component) {
        if is_cyclic[*of as usize] && marks[*of as usize] & all == all {
            let first = entries.entry(*of).or_default();
            if first.len() < TRIED {
                first.push(node);
            }
        }
    }
    entries.into_values().collect()
}

/// A cycle from `entry` back to it, inside its component, that is in all acceptance sets.
fn cycle<'l, A>(links: &'l Links<A>, component: &[u32], all: u64, entry: u32) -> Vec<&'l Link<A>> {
    let mut cycle: Vec<&Link<A>> = Vec::new();
    let (mut at, mut marks) = (entry, 0);
    while marks & all != all {
        let way = nearest(links, component, at, |link| link.marks & all & !marks != 0);
        let Some(last) = way.last() else { return cycle };
        at = last.to;
        marks |= way.iter().fold(0, |marks, link| marks | link.marks);
        cycle.extend(way);
    }
    if at != entry || cycle.is_empty() {
        cycle.extend(nearest(links, component, at, |link| link.to == entry));
    }
    cycle
}

/// The shortest way inside a component whose last link is as wanted.
fn nearest<'l, A>(
    links: &'l Links<A>,
    component: &[u32],
    from: u32,
    is_wanted: impl Fn(&Link<A>) -> bool,
) -> Vec<&'l Link<A>> {
    let mut reached: Vec<Option<(u32, &Link<A>)>> = (0..links.len()).map(|_| None).collect();
    let mut waiting = VecDeque::from([from]);
    while let Some(node) = waiting.pop_front() {
        for link in &links[node as usize] {
            let to = link.to as usize;
            if component[to] != component[from as usize] {
                continue;
            }
            if is_wanted(link) {
                let (mut way, mut at) = (vec![link], node);
                while at != from
                    && let Some((before, link)) = &reached[at as usize]
                {
                    way.push(*link);
                    at = *before;
                }
                way.reverse();
                return way;
            }
            if reached[to].is_none() && link.to != from {
                reached[to] = Some((node, link));
                waiting.push_back(link.to);
            }
        }
    }
    Vec::new()
}
