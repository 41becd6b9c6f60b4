//! Plans for tests.

use invigil_weave::{CallSide, Capture, Probe, ProbePlan, Site, SiteKind, SiteKinds};

/// Plan by a function of the site; records the meaning of each identity.
pub(crate) struct Labelled<F> {
    pub(crate) choose: F,
    pub(crate) labels: Vec<String>,
    /// Whether the lock is held at writes.
    pub(crate) locks: bool,
}

impl<F: FnMut(&Site<'_>) -> Vec<Vec<Capture>>> Labelled<F> {
    pub(crate) fn new(choose: F) -> Self {
        Labelled { choose, labels: Vec::new(), locks: false }
    }
}

impl<F: FnMut(&Site<'_>) -> Vec<Vec<Capture>>> ProbePlan for Labelled<F> {
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
pub(crate) fn label(site: &Site<'_>) -> String {
    let method = site.method;
    match site.kind {
        SiteKind::Enter => format!("enter {method}"),
        SiteKind::Return => format!("return {method}"),
        SiteKind::ExceptionalExit => format!("throw {method}"),
        SiteKind::Field { owner, name, .. } => format!("field {owner}.{name}"),
        SiteKind::Local { name, .. } => format!("local {method}.{name}"),
        SiteKind::Call { name, when: CallSide::Before, .. } => format!("before {name}"),
        SiteKind::Call { name, when: CallSide::After, .. } => format!("after {name}"),
    }
}

/// Replaces the identities at the start of lines by their labels.
pub(crate) fn named(log: &str, labels: &[String]) -> String {
    let name = |line: &str| {
        let (id, rest) = line.split_at(line.find(|c: char| !c.is_ascii_digit()).unwrap_or(line.len()));
        format!("{}{rest}\n", labels[id.parse::<usize>().unwrap()])
    };
    log.lines().map(name).collect()
}

/// Everything that can be captured at a site.
pub(crate) fn all(site: &Site<'_>) -> Vec<Capture> {
    let has_result = |descriptor: &str| !descriptor.ends_with(")V");
    let mut captures = vec![Capture::This];
    match site.kind {
        SiteKind::Enter => captures.extend(arguments(site.descriptor)),
        SiteKind::Return => {
            captures.extend(arguments(site.descriptor));
            if has_result(site.descriptor) {
                captures.push(Capture::Result);
            }
        }
        SiteKind::ExceptionalExit => {
            captures.extend(arguments(site.descriptor));
            captures.push(Capture::Thrown);
        }
        SiteKind::Field { .. } => {
            captures.extend([Capture::Owner, Capture::Value]);
            captures.extend(arguments(site.descriptor));
        }
        SiteKind::Local { .. } => captures.push(Capture::Value),
        SiteKind::Call { descriptor, when, .. } => {
            captures.push(Capture::Owner);
            captures.extend(arguments(descriptor));
            if when == CallSide::After && has_result(descriptor) {
                captures.push(Capture::Result);
            }
        }
    }
    captures
}

/// The most frequent captures at a site.
pub(crate) fn usual(site: &Site<'_>) -> Vec<Capture> {
    let mut captures = all(site);
    match site.kind {
        SiteKind::Enter => {}
        SiteKind::Return | SiteKind::Call { when: CallSide::After, .. } => {
            captures.retain(|c| *c == Capture::Result)
        }
        SiteKind::Call { .. } => captures.retain(|c| *c == Capture::Owner),
        SiteKind::ExceptionalExit => captures.retain(|c| *c == Capture::Thrown),
        SiteKind::Field { .. } | SiteKind::Local { .. } => {
            captures.retain(|c| matches!(c, Capture::Owner | Capture::Value));
        }
    }
    captures
}

/// One capture for each parameter.
pub(crate) fn arguments(descriptor: &str) -> Vec<Capture> {
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
pub(crate) struct Everywhere {
    pub(crate) wants: SiteKinds,
    pub(crate) captures: fn(&Site<'_>) -> Vec<Capture>,
    /// The number of probes at each site.
    pub(crate) times: usize,
    pub(crate) locks: bool,
    pub(crate) next: u32,
}

impl Everywhere {
    pub(crate) fn new(wants: SiteKinds, captures: fn(&Site<'_>) -> Vec<Capture>) -> Everywhere {
        Everywhere { wants, captures, times: 1, locks: false, next: 0 }
    }
}

impl ProbePlan for Everywhere {
    fn site_kinds(&mut self, _: &str) -> SiteKinds {
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
