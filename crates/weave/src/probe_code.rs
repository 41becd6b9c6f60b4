//! Probe code for each kind of site.

use crate::descriptor::Shape;
use crate::emit::{Emitter, Source};
use crate::layout::{ProbeCode, WeaveError};
use crate::opcode::*;
use crate::plan::{Capture, Probe};
use crate::pool::PoolFullError;
use crate::saved_locals::SavedLocals;
use crate::sites::{InstructionEffect, Method, SiteProbes, Sites};

/// Generates the probe code of a method.
pub(crate) struct ProbeEmitter<'m, 'p> {
    pub(crate) method: &'m Method<'m>,
    pub(crate) saved: &'m SavedLocals,
    /// For each instruction of a constructor, whether `this` is initialised before it.
    pub(crate) this_initialised: &'m [bool],
    pub(crate) emitter: Emitter<'p>,
    /// Slot of the acquired lock. The slots after it hold temporaries within the code of one site.
    pub(crate) lock: u16,
    /// Number of slots in use from `lock` on.
    pub(crate) used: u16,
}

/// Values available at a site in addition to the saved locals.
struct SiteValues {
    value: Option<Source>,
    owner: Option<Source>,
    result: Option<Source>,
    thrown: Option<Source>,
    /// The arguments of a call; `None` if the site is not a call.
    arguments: Option<Vec<Source>>,
    /// Whether `this` is initialised.
    this_initialised: bool,
}

impl SiteValues {
    fn new(this_initialised: bool) -> SiteValues {
        SiteValues { value: None, owner: None, result: None, thrown: None, arguments: None, this_initialised }
    }
}

impl<'m, 'p> ProbeEmitter<'m, 'p> {
    /// The code at the method entry.
    pub(crate) fn prologue(&mut self, sites: &Sites) -> Result<Vec<u8>, WeaveError> {
        for copy in &self.saved.copies {
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
    pub(crate) fn probe_code(&mut self, site: &SiteProbes) -> Result<ProbeCode, WeaveError> {
        self.emitter.restart();
        let (before, after) = match &site.effect {
            InstructionEffect::Put { value, is_static, of_this_class } => {
                let this_initialised = self.is_this_initialised(site.instruction);
                let hides_owner = *is_static || (*of_this_class && !this_initialised);
                self.put_code(&site.after, *value, hides_owner, *is_static, this_initialised)?
            }
            InstructionEffect::Store { value, slot } => {
                let values = SiteValues {
                    value: Some(Source::Slot(*value, *slot)),
                    ..SiteValues::new(self.is_this_initialised(site.instruction))
                };
                self.write_code(&site.after, &values, &[])?
            }
            InstructionEffect::Call { arguments, result, is_static, is_constructor } => {
                self.call_code(site, arguments, *result, *is_static, *is_constructor)?
            }
            InstructionEffect::Return => (self.return_code(&site.before)?, Vec::new()),
        };
        Ok(ProbeCode { instruction: site.instruction, before, after })
    }

    fn is_this_initialised(&self, instruction: usize) -> bool {
        self.this_initialised.get(instruction).is_none_or(|initialised| *initialised)
    }

    /// Allocates a slot for a temporary.
    fn allocate(&mut self, next: &mut u16, shape: Shape) -> u16 {
        let slot = self.lock.saturating_add(*next);
        *next += shape.slots();
        self.used = self.used.max(*next);
        slot
    }

    fn report(&mut self, probes: &[Probe], values: &SiteValues) -> Result<(), PoolFullError> {
        for probe in probes {
            let sources: Vec<_> = probe
                .captures
                .iter()
                .map(|&capture| {
                    let found = match capture {
                        Capture::This if !values.this_initialised => None,
                        Capture::This => Some(self.saved.source(capture)),
                        Capture::Argument(index) => match &values.arguments {
                            Some(arguments) => arguments.get(usize::from(index)).copied(),
                            None => Some(self.saved.source(capture)),
                        },
                        Capture::Result => values.result,
                        Capture::Value => values.value,
                        Capture::Owner => values.owner,
                        Capture::Thrown => values.thrown,
                    };
                    found.unwrap_or(Source::Null)
                })
                .collect();
            self.emitter.report(probe, &sources)?;
        }
        Ok(())
    }

    fn clear(&mut self, sources: &[Source]) {
        for source in sources {
            if let Source::Slot(Shape::Reference, slot) = *source {
                self.emitter.clear(slot);
            }
        }
    }

    /// The code around a write. Code that was emitted before this call becomes part of the code before the write.
    fn write_code(
        &mut self,
        probes: &[Probe],
        values: &SiteValues,
        spilled: &[Source],
    ) -> Result<(Vec<u8>, Vec<u8>), WeaveError> {
        let is_locked = probes.iter().any(|probe| probe.locked);
        if is_locked {
            self.used = self.used.max(1);
            self.emitter.lock_into(self.lock)?;
        }
        let before = self.emitter.take();
        self.report(probes, values)?;
        self.clear(spilled);
        if is_locked {
            self.emitter.load(Shape::Reference, self.lock);
            self.emitter.pop(MONITOREXIT, 1);
        }
        Ok((before, self.emitter.take()))
    }

    fn put_code(
        &mut self,
        probes: &[Probe],
        value: Shape,
        hides_owner: bool,
        is_static: bool,
        this_initialised: bool,
    ) -> Result<(Vec<u8>, Vec<u8>), WeaveError> {
        let is_wide = value.slots() == 2;
        let mut values = SiteValues::new(this_initialised);
        // The most frequent captures can stay on the stack.
        if let [probe] = probes {
            let on_stack = Some(Source::Stack(value));
            match probe.captures[..] {
                [Capture::Value] if is_static => {
                    self.emitter.dup(value);
                    values.value = on_stack;
                    return self.write_code(probes, &values, &[]);
                }
                [Capture::Value] => {
                    self.emitter.push(if is_wide { DUP2_X1 } else { DUP_X1 }, value.slots());
                    values.value = on_stack;
                    return self.write_code(probes, &values, &[]);
                }
                [Capture::Owner, Capture::Value] if !hides_owner => {
                    if is_wide {
                        // The stack, which is `o v` at first: v o v; v o; o v o; o o v o; o o v; o v o v.
                        self.emitter.push(DUP2_X1, 2);
                        self.emitter.pop(POP2, 2);
                        self.emitter.push(DUP_X2, 1);
                        self.emitter.push(DUP_X2, 1);
                        self.emitter.pop(POP, 1);
                        self.emitter.push(DUP2_X1, 2);
                    } else {
                        self.emitter.push(DUP2, 2);
                    }
                    values.owner = Some(Source::Stack(Shape::Reference));
                    values.value = on_stack;
                    return self.write_code(probes, &values, &[]);
                }
                _ => {}
            }
        }
        let captures = |capture| probes.iter().any(|probe| probe.captures.contains(&capture));
        let mut next = 1;
        let mut spilled = Vec::new();
        let captures_owner = captures(Capture::Owner) && !hides_owner;
        if captures_owner || captures(Capture::Value) {
            let slot = self.allocate(&mut next, value);
            values.value = Some(Source::Slot(value, slot));
            spilled.extend(values.value);
            if captures_owner {
                self.emitter.store(value, slot);
                let owner = self.allocate(&mut next, Shape::Reference);
                self.emitter.dup(Shape::Reference);
                self.emitter.store(Shape::Reference, owner);
                self.emitter.load(value, slot);
                values.owner = Some(Source::Slot(Shape::Reference, owner));
                spilled.extend(values.owner);
            } else {
                self.emitter.dup(value);
                self.emitter.store(value, slot);
            }
        }
        self.write_code(probes, &values, &spilled)
    }

    fn call_code(
        &mut self,
        site: &SiteProbes,
        arguments: &[Shape],
        result: Option<Shape>,
        is_static: bool,
        is_constructor: bool,
    ) -> Result<(Vec<u8>, Vec<u8>), WeaveError> {
        let captures =
            |probes: &[Probe], capture| probes.iter().any(|probe| probe.captures.contains(&capture));
        let captures_owner = |probes: &[Probe]| captures(probes, Capture::Owner) && !is_static;
        // The arguments from this one on must be popped from the stack.
        let first = |probes: &[Probe]| {
            let indices =
                probes.iter().flat_map(|probe| &probe.captures).filter_map(|capture| match *capture {
                    Capture::Argument(index) => Some(usize::from(index)),
                    _ => None,
                });
            if captures_owner(probes) { 0 } else { indices.min().unwrap_or(arguments.len()) }
        };
        let needs_owner = (captures_owner(&site.before) && !is_constructor) || captures_owner(&site.after);
        let first = first(&site.before).min(first(&site.after));
        let needed_after = captures_owner(&site.after)
            || site.after.iter().flat_map(|probe| &probe.captures).any(|c| matches!(c, Capture::Argument(_)));

        let mut next = 1;
        let mut values = SiteValues::new(self.is_this_initialised(site.instruction));
        let mut sources = vec![Source::Null; arguments.len()];
        for (source, &shape) in sources.iter_mut().zip(arguments).skip(first).rev() {
            let slot = self.allocate(&mut next, shape);
            self.emitter.store(shape, slot);
            *source = Source::Slot(shape, slot);
        }
        let mut spilled = sources.clone();
        values.arguments = Some(sources);
        let mut owner = None;
        if needs_owner {
            let slot = self.allocate(&mut next, Shape::Reference);
            self.emitter.dup(Shape::Reference);
            self.emitter.store(Shape::Reference, slot);
            owner = Some(Source::Slot(Shape::Reference, slot));
            spilled.extend(owner);
        }
        if !is_constructor {
            values.owner = owner;
        }
        self.report(&site.before, &values)?;
        for source in &spilled[..arguments.len()] {
            if let Source::Slot(shape, slot) = *source {
                self.emitter.load(shape, slot);
            }
        }
        if !needed_after {
            self.clear(&spilled);
            spilled.clear();
        }
        let before = self.emitter.take();

        self.emitter.restart();
        values.this_initialised = self.is_this_initialised(site.instruction + 1);
        values.owner = owner;
        if let Some(shape) = result.filter(|_| captures(&site.after, Capture::Result)) {
            let (source, spilled_result) = self.copy_result(&site.after, shape, &mut next);
            values.result = Some(source);
            spilled.extend(spilled_result);
        }
        self.report(&site.after, &values)?;
        self.clear(&spilled);
        Ok((before, self.emitter.take()))
    }

    /// Copies the result or exception on top of the stack, on the stack if possible. Also returns the variable to
    /// clear.
    fn copy_result(&mut self, probes: &[Probe], shape: Shape, next: &mut u16) -> (Source, Option<Source>) {
        self.emitter.dup(shape);
        if let [probe] = probes
            && probe.captures.len() == 1
        {
            return (Source::Stack(shape), None);
        }
        let slot = self.allocate(next, shape);
        self.emitter.store(shape, slot);
        (Source::Slot(shape, slot), Some(Source::Slot(shape, slot)))
    }

    /// The code before a `return`.
    fn return_code(&mut self, probes: &[Probe]) -> Result<Vec<u8>, WeaveError> {
        let mut values = SiteValues::new(true);
        let result = self.method.result.and_then(Shape::of);
        if let Some(shape) = result
            && probes.iter().any(|probe| probe.captures.contains(&Capture::Result))
        {
            values.result = Some(self.copy_result(probes, shape, &mut 1).0);
        }
        self.report(probes, &values)?;
        Ok(self.emitter.take())
    }

    /// The handler that reports an exception and rethrows it.
    pub(crate) fn handler(&mut self, probes: &[Probe]) -> Result<Vec<u8>, WeaveError> {
        self.emitter.restart();
        // The exception itself: the interrupted code may have had an empty stack.
        self.emitter.grow(1);
        let mut values = SiteValues::new(true);
        if probes.iter().any(|probe| probe.captures.contains(&Capture::Thrown)) {
            values.thrown = Some(self.copy_result(probes, Shape::Reference, &mut 1).0);
        }
        self.report(probes, &values)?;
        self.emitter.pop(ATHROW, 1);
        Ok(self.emitter.take())
    }
}
