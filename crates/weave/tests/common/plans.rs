//! Plans for tests.

use invigil_weave::{Capture, Kind, Plan, Probe, Site, Wants, When};

/// Asks a function about each site, and remembers what each identity stands for.
pub struct Labelled<F> {
    pub choose: F,
    pub labels: Vec<String>,
    /// Whether the lock is held where that means something.
    pub locks: bool,
}

impl<F: FnMut(&Site<'_>) -> Vec<Vec<Capture>>> Labelled<F> {
    pub fn new(choose: F) -> Self {
        Labelled { choose, labels: Vec::new(), locks: false }
    }
}

impl<F: FnMut(&Site<'_>) -> Vec<Vec<Capture>>> Plan for Labelled<F> {
    fn probes(&mut self, site: &Site<'_>) -> Vec<Probe> {
        let probes = (self.choose)(site);
        probes
            .into_iter()
            .map(|captures| {
                self.labels.push(label(site));
                Probe { id: self.labels.len() as u32 - 1, captures, locked: self.locks }
            })
            .collect()
    }
}

/// A short name of a site.
pub fn label(site: &Site<'_>) -> String {
    let method = site.method;
    match site.kind {
        Kind::Enter => format!("enter {method}"),
        Kind::Return => format!("return {method}"),
        Kind::Throw => format!("throw {method}"),
        Kind::Field { owner, name, .. } => format!("field {owner}.{name}"),
        Kind::Local { name, .. } => format!("local {method}.{name}"),
        Kind::Call { name, when: When::Before, .. } => format!("before {name}"),
        Kind::Call { name, when: When::After, .. } => format!("after {name}"),
    }
}

/// Replaces the identities at the start of lines by what they stand for.
pub fn named(log: &str, labels: &[String]) -> String {
    let name = |line: &str| {
        let (id, rest) = line.split_at(line.find(|c: char| !c.is_ascii_digit()).unwrap_or(line.len()));
        format!("{}{rest}\n", labels[id.parse::<usize>().unwrap()])
    };
    log.lines().map(name).collect()
}

/// Everything that can be captured at a site.
pub fn all(site: &Site<'_>) -> Vec<Capture> {
    let has_result = |descriptor: &str| !descriptor.ends_with(")V");
    let mut captures = vec![Capture::This];
    match site.kind {
        Kind::Enter => captures.extend(arguments(site.descriptor)),
        Kind::Return => {
            captures.extend(arguments(site.descriptor));
            if has_result(site.descriptor) {
                captures.push(Capture::Result);
            }
        }
        Kind::Throw => {
            captures.extend(arguments(site.descriptor));
            captures.push(Capture::Thrown);
        }
        Kind::Field { .. } => {
            captures.extend([Capture::Owner, Capture::Value]);
            captures.extend(arguments(site.descriptor));
        }
        Kind::Local { .. } => captures.push(Capture::Value),
        Kind::Call { descriptor, when, .. } => {
            captures.push(Capture::Owner);
            captures.extend(arguments(descriptor));
            if when == When::After && has_result(descriptor) {
                captures.push(Capture::Result);
            }
        }
    }
    captures
}

/// What is mostly asked for.
pub fn usual(site: &Site<'_>) -> Vec<Capture> {
    let mut captures = all(site);
    match site.kind {
        Kind::Enter => {}
        Kind::Return | Kind::Call { when: When::After, .. } => captures.retain(|c| *c == Capture::Result),
        Kind::Call { .. } => captures.retain(|c| *c == Capture::Owner),
        Kind::Throw => captures.retain(|c| *c == Capture::Thrown),
        Kind::Field { .. } | Kind::Local { .. } => {
            captures.retain(|c| matches!(c, Capture::Owner | Capture::Value));
        }
    }
    captures
}

/// One capture for each parameter.
pub fn arguments(descriptor: &str) -> Vec<Capture> {
    let inside = &descriptor[1..descriptor.rfind(')').unwrap()];
    let (mut count, mut in_name) = (0, false);
    for letter in inside.chars() {
        match letter {
            ';' => in_name = false,
            'L' if !in_name => (count, in_name) = (count + 1, true),
            '[' => {}
            _ if !in_name => count += 1,
            _ => {}
        }
    }
    // Of `[[Lx;` and `[I` the letter behind the brackets was counted.
    (0..count).map(Capture::Argument).collect()
}

/// Probes at every site of some kinds. Every other one holds the lock, where that is asked for.
pub struct Everywhere {
    pub wants: Wants,
    pub captures: fn(&Site<'_>) -> Vec<Capture>,
    /// How many probes at each site.
    pub times: usize,
    pub locks: bool,
    pub next: u32,
}

impl Everywhere {
    pub fn new(wants: Wants, captures: fn(&Site<'_>) -> Vec<Capture>) -> Everywhere {
        Everywhere { wants, captures, times: 1, locks: false, next: 0 }
    }
}

impl Plan for Everywhere {
    fn wants(&mut self, _: &str) -> Wants {
        self.wants
    }

    fn probes(&mut self, site: &Site<'_>) -> Vec<Probe> {
        (0..self.times)
            .map(|time| {
                self.next += 1;
                let mut captures = (self.captures)(site);
                if time % 2 == 1 {
                    captures.reverse();
                }
                Probe { id: self.next, captures, locked: self.locks && self.next.is_multiple_of(2) }
            })
            .collect()
    }
}
