//! Probe code for each kind of site.

use crate::descriptor::Shape;
use crate::emit::{Emitter, Source};
use crate::layout::{NotWoven, ProbeCode};
use crate::opcode::*;
use crate::plan::{Capture, Probe};
use crate::pool::PoolFull;
use crate::saved_locals::SavedLocals;
use crate::sites::{InstructionEffect, Method, SiteProbes, Sites};

/// Generates the probe code of a method.
pub(crate) struct ProbeEmitter<'m, 'p> {
    pub(crate) method: &'m Method<'m>,
    pub(crate) kept: &'m SavedLocals,
    /// For each instruction of a constructor, whether `this` is initialised before it.
    pub(crate) this_initialised: &'m [bool],
    pub(crate) emitter: Emitter<'p>,
    /// Slot of the acquired lock. Those behind it hold temporaries within the code of one site.
    pub(crate) lock: u16,
    /// Number of slots in use from `lock` on.
    pub(crate) used: u16,
}

/// Values available at a site in addition to the saved locals.
struct Here {
    value: Option<Source>,
    owner: Option<Source>,
    result: Option<Source>,
    thrown: Option<Source>,
    /// The arguments of a call; `None` if the site is not a call.
    arguments: Option<Vec<Source>>,
    /// Whether `this` is initialised.
    this_initialised: bool,
}

impl Here {
    fn new(this_initialised: bool) -> Here {
        Here { value: None, owner: None, result: None, thrown: None, arguments: None, this_initialised }
    }
}

impl<'m, 'p> ProbeEmitter<'m, 'p> {
    /// The code at the method entry.
    pub(crate) fn prologue(&mut self, sites: &Sites) -> Result<Vec<u8>, NotWoven> {
        for copy in &self.kept.copies {
            self.emitter.load(copy.shape, copy.from);
            self.emitter.store(copy.shape, copy.to);
        }
        let slots: Vec<_> = self.method.slots().collect();
        for probe in &sites.enter {
            let sources: Vec<_> = probe
                .captures
                .iter()
                .map(|&capture| match capture {
                    Capture::This if !self.method.is_static && !self.method.is_constructor() => {
                        Source::Slot(Shape::Reference, 0)
                    }
                    Capture::Argument(index) => slots
                        .get(usize::from(index))
                        .map_or(Source::Null, |&(slot, shape)| Source::Slot(shape, slot)),
                    _ => Source::Null,
                })
                .collect();
            self.emitter.report(probe, &sources)?;
        }
        Ok(self.emitter.take())
    }

    /// The code around an instruction.
    pub(crate) fn probe_code(&mut self, site: &SiteProbes) -> Result<ProbeCode, NotWoven> {
        self.emitter.restart();
        let (before, after) = match &site.effect {
            InstructionEffect::Put { value, is_static, of_this_class } => {
                let this_initialised = self.is_this_initialised(site.instruction);
                let hides_owner = *is_static || (*of_this_class && !this_initialised);
                self.put(&site.after, *value, hides_owner, *is_static, this_initialised)?
            }
            InstructionEffect::Store { value, slot } => {
                let here = Here {
                    value: Some(Source::Slot(*value, *slot)),
                    ..Here::new(self.is_this_initialised(site.instruction))
                };
                self.written(&site.after, &here, &[])?
            }
            InstructionEffect::Call { arguments, result, is_static, is_constructor } => {
                self.call(site, arguments, *result, *is_static, *is_constructor)?
            }
            InstructionEffect::Return => (self.leave(&site.before)?, Vec::new()),
        };
        Ok(ProbeCode { instruction: site.instruction, before, after })
    }

    fn is_this_initialised(&self, instruction: usize) -> bool {
        self.this_initialised.get(instruction).is_none_or(|initialised| *initialised)
    }

    /// Allocates a slot for a temporary.
    fn slot(&mut self, next: &mut u16, shape: Shape) -> u16 {
        let slot = self.lock.saturating_add(*next);
        *next += shape.slots();
        self.used = self.used.max(*next);
        slot
    }

    fn report(&mut self, probes: &[Probe], here: &Here) -> Result<(), PoolFull> {
        for probe in probes {
            let sources: Vec<_> = probe
                .captures
                .iter()
                .map(|&capture| {
                    let found = match capture {
                        Capture::This if !here.this_initialised => None,
                        Capture::This => Some(self.kept.source(capture)),
                        Capture::Argument(index) => match &here.arguments {
                            Some(arguments) => arguments.get(usize::from(index)).copied(),
                            None => Some(self.kept.source(capture)),
                        },
                        Capture::Result => here.result,
                        Capture::Value => here.value,
                        Capture::Owner => here.owner,
                        Capture::Thrown => here.thrown,
                    };
                    found.unwrap_or(Source::Null)
                })
                .collect();
            self.emitter.report(probe, &sources)?;
        }
        Ok(())
    }

    fn forget(&mut self, sources: &[Source]) {
        for source in sources {
            if let Source::Slot(Shape::Reference, slot) = *source {
                self.emitter.forget(slot);
            }
        }
    }

    /// The code around a write; `here` has the sources of captures. Some code may precede it.
    fn written(
        &mut self,
        probes: &[Probe],
        here: &Here,
        spilled: &[Source],
    ) -> Result<(Vec<u8>, Vec<u8>), NotWoven> {
        let is_locked = probes.iter().any(|probe| probe.locked);
        if is_locked {
            self.used = self.used.max(1);
            self.emitter.lock_into(self.lock)?;
        }
        let before = self.emitter.take();
        self.report(probes, here)?;
        self.forget(spilled);
        if is_locked {
            self.emitter.load(Shape::Reference, self.lock);
            self.emitter.pop(MONITOREXIT, 1);
        }
        Ok((before, self.emitter.take()))
    }

    fn put(
        &mut self,
        probes: &[Probe],
        value: Shape,
        hides_owner: bool,
        is_static: bool,
        this_initialised: bool,
    ) -> Result<(Vec<u8>, Vec<u8>), NotWoven> {
        let is_wide = value.slots() == 2;
        let mut here = Here::new(this_initialised);
        // The most frequent captures can stay on the stack.
        if let [probe] = probes {
            let on_stack = Some(Source::Stack(value));
            match probe.captures[..] {
                [Capture::Value] if is_static => {
                    self.emitter.dup(value);
                    here.value = on_stack;
                    return self.written(probes, &here, &[]);
                }
                [Capture::Value] => {
                    self.emitter.push(if is_wide { DUP2_X1 } else { DUP_X1 }, value.slots());
                    here.value = on_stack;
                    return self.written(probes, &here, &[]);
                }
                [Capture::Owner, Capture::Value] if !hides_owner => {
                    if is_wide {
                        // Of o v: v o v; v o; o v o; o o v o; o o v; o v o v.
                        self.emitter.push(DUP2_X1, 2);
                        self.emitter.pop(POP2, 2);
                        self.emitter.push(DUP_X2, 1);
                        self.emitter.push(DUP_X2, 1);
                        self.emitter.pop(POP, 1);
                        self.emitter.push(DUP2_X1, 2);
                    } else {
                        self.emitter.push(DUP2, 2);
                    }
                    here.owner = Some(Source::Stack(Shape::Reference));
                    here.value = on_stack;
                    return self.written(probes, &here, &[]);
                }
                _ => {}
            }
        }
        let wants = |wanted| probes.iter().any(|probe| probe.captures.contains(&wanted));
        let mut next = 1;
        let mut spilled = Vec::new();
        let wants_owner = wants(Capture::Owner) && !hides_owner;
        if wants_owner || wants(Capture::Value) {
            let slot = self.slot(&mut next, value);
            here.value = Some(Source::Slot(value, slot));
            spilled.extend(here.value);
            if wants_owner {
                self.emitter.store(value, slot);
                let owner = self.slot(&mut next, Shape::Reference);
                self.emitter.dup(Shape::Reference);
                self.emitter.store(Shape::Reference, owner);
                self.emitter.load(value, slot);
                here.owner = Some(Source::Slot(Shape::Reference, owner));
                spilled.extend(here.owner);
            } else {
                self.emitter.dup(value);
                self.emitter.store(value, slot);
            }
        }
        self.written(probes, &here, &spilled)
    }

    fn call(
        &mut self,
        site: &SiteProbes,
        arguments: &[Shape],
        result: Option<Shape>,
        is_static: bool,
        is_constructor: bool,
    ) -> Result<(Vec<u8>, Vec<u8>), NotWoven> {
        let wants = |probes: &[Probe], wanted| probes.iter().any(|probe| probe.captures.contains(&wanted));
        let wants_owner = |probes: &[Probe]| wants(probes, Capture::Owner) && !is_static;
        // The arguments from this one on must be popped from the stack.
        let first = |probes: &[Probe]| {
            let indices =
                probes.iter().flat_map(|probe| &probe.captures).filter_map(|capture| match *capture {
                    Capture::Argument(index) => Some(usize::from(index)),
                    _ => None,
                });
            if wants_owner(probes) { 0 } else { indices.min().unwrap_or(arguments.len()) }
        };
        let takes_owner = (wants_owner(&site.before) && !is_constructor) || wants_owner(&site.after);
        let first = first(&site.before).min(first(&site.after));
        let for_after = wants_owner(&site.after)
            || site.after.iter().flat_map(|probe| &probe.captures).any(|c| matches!(c, Capture::Argument(_)));

        let mut next = 1;
        let mut here = Here::new(self.is_this_initialised(site.instruction));
        let mut sources = vec![Source::Null; arguments.len()];
        for (source, &shape) in sources.iter_mut().zip(arguments).skip(first).rev() {
            let slot = self.slot(&mut next, shape);
            self.emitter.store(shape, slot);
            *source = Source::Slot(shape, slot);
        }
        let mut spilled = sources.clone();
        here.arguments = Some(sources);
        let mut owner = None;
        if takes_owner {
            let slot = self.slot(&mut next, Shape::Reference);
            self.emitter.dup(Shape::Reference);
            self.emitter.store(Shape::Reference, slot);
            owner = Some(Source::Slot(Shape::Reference, slot));
            spilled.extend(owner);
        }
        if !is_constructor {
            here.owner = owner;
        }
        self.report(&site.before, &here)?;
        for source in &spilled[..arguments.len()] {
            if let Source::Slot(shape, slot) = *source {
                self.emitter.load(shape, slot);
            }
        }
        if !for_after {
            self.forget(&spilled);
            spilled.clear();
        }
        let before = self.emitter.take();

        self.emitter.restart();
        here.this_initialised = self.is_this_initialised(site.instruction + 1);
        here.owner = owner;
        if let Some(shape) = result.filter(|_| wants(&site.after, Capture::Result)) {
            let (source, held) = self.result(&site.after, shape, &mut next);
            here.result = Some(source);
            spilled.extend(held);
        }
        self.report(&site.after, &here)?;
        self.forget(&spilled);
        Ok((before, self.emitter.take()))
    }

    /// Copies the result, on the stack if possible.
    fn result(&mut self, probes: &[Probe], shape: Shape, next: &mut u16) -> (Source, Option<Source>) {
        self.emitter.dup(shape);
        if let [probe] = probes
            && probe.captures.len() == 1
        {
            return (Source::Stack(shape), None);
        }
        let slot = self.slot(next, shape);
        self.emitter.store(shape, slot);
        (Source::Slot(shape, slot), Some(Source::Slot(shape, slot)))
    }

    /// The code before a `return`.
    fn leave(&mut self, probes: &[Probe]) -> Result<Vec<u8>, NotWoven> {
        let mut here = Here::new(true);
        let result = self.method.result.and_then(Shape::of);
        if let Some(shape) = result
            && probes.iter().any(|probe| probe.captures.contains(&Capture::Result))
        {
            here.result = Some(self.result(probes, shape, &mut 1).0);
        }
        self.report(probes, &here)?;
        Ok(self.emitter.take())
    }

    /// The handler that reports an exception and rethrows it.
    pub(crate) fn handler(&mut self, probes: &[Probe]) -> Result<Vec<u8>, NotWoven> {
        self.emitter.restart();
        // The exception itself: the interrupted code may have had an empty stack.
        self.emitter.grow(1);
        let mut here = Here::new(true);
        if probes.iter().any(|probe| probe.captures.contains(&Capture::Thrown)) {
            here.thrown = Some(self.result(probes, Shape::Reference, &mut 1).0);
        }
        self.report(probes, &here)?;
        self.emitter.pop(ATHROW, 1);
        Ok(self.emitter.take())
    }
}
