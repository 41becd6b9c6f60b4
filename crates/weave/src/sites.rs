//! Visits the sites of a method and collects the probes of the plan.

use std::borrow::Cow;

use crate::bytes::Reader;
use crate::code::Code;
use crate::descriptor::{self, Shape};
use crate::error::ClassFileError;
use crate::opcode;
use crate::plan::{CallSide, Capture, Probe, ProbePlan, Site, SiteKind, SiteKinds, StoreTarget};
use crate::pool::Pool;
use crate::raw::{Attribute, ClassFileParts, Member};
use crate::weaver::SkippedMethod;

/// The method being woven.
pub(crate) struct Method<'a> {
    pub(crate) class: &'a str,
    pub(crate) name: &'a str,
    pub(crate) descriptor: &'a str,
    pub(crate) is_static: bool,
    /// The types of its parameters.
    pub(crate) parameters: Vec<&'a str>,
    pub(crate) result: Option<&'a str>,
}

impl Method<'_> {
    pub(crate) fn is_constructor(&self) -> bool {
        self.name == "<init>"
    }

    /// The slots of the parameters, and their shapes.
    pub(crate) fn slots(&self) -> impl Iterator<Item = (u16, Shape)> {
        let mut next = u16::from(!self.is_static);
        self.parameters.iter().filter_map(move |parameter| {
            let shape = Shape::of(parameter)?;
            let slot = next;
            next = next.saturating_add(shape.slots());
            Some((slot, shape))
        })
    }
}

/// Effect of an instruction, if it is a site.
#[derive(Debug)]
pub(crate) enum InstructionEffect {
    /// Writes a field.
    Put { value: Shape, is_static: bool, of_this_class: bool },
    /// Writes a variable.
    Store { value: Shape, slot: u16 },
    /// Calls a method.
    Call { arguments: Vec<Shape>, result: Option<Shape>, is_static: bool, is_constructor: bool },
    /// Leaves the method.
    Return,
}

/// The probes at an instruction.
#[derive(Debug)]
pub(crate) struct SiteProbes {
    pub(crate) instruction: usize,
    pub(crate) effect: InstructionEffect,
    pub(crate) before: Vec<Probe>,
    pub(crate) after: Vec<Probe>,
}

/// The sites of a method that have probes, with these probes.
#[derive(Debug, Default)]
pub(crate) struct Sites {
    pub(crate) enter: Vec<Probe>,
    pub(crate) throw: Vec<Probe>,
    pub(crate) instructions: Vec<SiteProbes>,
}

impl Sites {
    pub(crate) fn is_empty(&self) -> bool {
        self.enter.is_empty() && self.throw.is_empty() && self.instructions.is_empty()
    }

    /// All probes of the method.
    pub(crate) fn probes(&self) -> impl Iterator<Item = &Probe> {
        let at_instructions = self.instructions.iter().flat_map(|site| site.before.iter().chain(&site.after));
        self.enter.iter().chain(&self.throw).chain(at_instructions)
    }
}

/// Queries the plan for one site after the other.
pub(crate) struct SiteVisitor<'a, 'p> {
    pub(crate) method: &'a Method<'a>,
    pub(crate) plan: &'p mut dyn ProbePlan,
    pub(crate) skipped: &'p mut Vec<SkippedMethod>,
    lines: Vec<(u16, u16)>,
    line: Option<u16>,
}

impl<'a, 'p> SiteVisitor<'a, 'p> {
    pub(crate) fn new(
        method: &'a Method<'a>,
        plan: &'p mut dyn ProbePlan,
        skipped: &'p mut Vec<SkippedMethod>,
    ) -> Self {
        SiteVisitor { method, plan, skipped, lines: Vec::new(), line: None }
    }

    /// Queries the plan for every site of the method.
    pub(crate) fn visit_all(
        mut self,
        raw: &ClassFileParts<'a>,
        member: &Member,
        code: &Code<'a>,
        site_kinds: SiteKinds,
    ) -> Result<Sites, ClassFileError> {
        self.lines = lines(raw, code)?;
        let has_names = site_kinds.locals || site_kinds.calls;
        let names = if has_names { Names::read(raw, member, code)? } else { Names::default() };
        let mut sites = Sites::default();
        let mut next_line = 0;
        for index in 0..code.len() {
            while self.lines.get(next_line).is_some_and(|&(pc, _)| usize::from(pc) <= code.pc(index)) {
                self.line = Some(self.lines[next_line].1);
                next_line += 1;
            }
            if index == 0 && site_kinds.methods {
                sites.enter = self.probes_at(SiteKind::Enter, &self.method.parameters, None);
            }
            sites.instructions.extend(self.instruction(&raw.pool, code, index, site_kinds, &names)?);
        }
        if site_kinds.methods {
            self.line = None;
            sites.throw = self.probes_at(SiteKind::ExceptionalExit, &self.method.parameters, None);
        }
        Ok(sites)
    }

    fn instruction(
        &mut self,
        pool: &Pool<'_>,
        code: &Code<'_>,
        index: usize,
        site_kinds: SiteKinds,
        names: &Names,
    ) -> Result<Option<SiteProbes>, ClassFileError> {
        let error = |message| ClassFileError::Malformed { offset: code.at + code.pc(index), message };
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let own_parameters = &self.method.parameters;
        let effect = match code.op(index) {
            op @ (opcode::PUTSTATIC | opcode::PUTFIELD) if site_kinds.fields => {
                let field = pool.field(code.operand(index)).ok_or_else(|| error("a field has no name"))?;
                let value =
                    Shape::of(&field.descriptor).ok_or_else(|| error("a field has an invalid type"))?;
                let is_static = op == opcode::PUTSTATIC;
                let (owner, name, descriptor) = (&*field.owner, &*field.name, &*field.descriptor);
                after = self.probes_at(
                    SiteKind::Field { owner, name, descriptor, is_static },
                    own_parameters,
                    None,
                );
                InstructionEffect::Put { value, is_static, of_this_class: owner == self.method.class }
            }
            opcode::INVOKEVIRTUAL..=opcode::INVOKEINTERFACE if site_kinds.calls => {
                let called = pool.method(code.operand(index)).ok_or_else(|| error("a method has no name"))?;
                let (parameters, result) = descriptor::method(&called.descriptor)
                    .ok_or_else(|| error("a method has an invalid descriptor"))?;
                let is_static = code.op(index) == opcode::INVOKESTATIC;
                let (owner, name, descriptor) = (&*called.owner, &*called.name, &*called.descriptor);
                let target = if name == "<init>" { self.target(pool, code, index, names) } else { None };
                let stored = target.as_ref().map(Target::stored);
                let site = |when| SiteKind::Call { owner, name, descriptor, is_static, when, stored };
                before = self.probes_at(site(CallSide::Before), &parameters, None);
                after = self.probes_at(site(CallSide::After), &parameters, result);
                InstructionEffect::Call {
                    arguments: parameters.iter().filter_map(|parameter| Shape::of(parameter)).collect(),
                    result: result.and_then(Shape::of),
                    is_static,
                    is_constructor: name == "<init>",
                }
            }
            opcode::IRETURN..=opcode::RETURN if site_kinds.methods => {
                before = self.probes_at(SiteKind::Return, own_parameters, self.method.result);
                InstructionEffect::Return
            }
            _ if site_kinds.locals => {
                let Some((value, slot)) = opcode::written_variable(code.bytes, code.pc(index)) else {
                    return Ok(None);
                };
                let Some((name, descriptor)) =
                    names.find(pool, self.method, slot, value, code.pc(index), code.pc(index + 1))
                else {
                    return Ok(None);
                };
                after = self.probes_at(
                    SiteKind::Local { slot, name: &name, descriptor: &descriptor },
                    own_parameters,
                    None,
                );
                InstructionEffect::Store { value, slot }
            }
            _ => return Ok(None),
        };
        let has_probes = !before.is_empty() || !after.is_empty();
        Ok(has_probes.then_some(SiteProbes { instruction: index, effect, before, after }))
    }

    /// The variable to which the next instruction stores the object whose constructor is called here.
    fn target<'b>(
        &self,
        pool: &Pool<'b>,
        code: &Code<'_>,
        index: usize,
        names: &'b Names,
    ) -> Option<Target<'b>>
    where
        'a: 'b,
    {
        let next = index + 1;
        if next >= code.len() {
            return None;
        }
        match code.op(next) {
            op @ (opcode::PUTSTATIC | opcode::PUTFIELD) => {
                let field = pool.field(code.operand(next))?;
                let is_static = op == opcode::PUTSTATIC;
                let of_this = !is_static && !self.method.is_static && is_this_below(pool, code, index);
                Some(Target {
                    owner: Some(field.owner),
                    name: field.name,
                    descriptor: field.descriptor,
                    is_static,
                    of_this,
                })
            }
            _ => {
                let (value, slot) = opcode::written_variable(code.bytes, code.pc(next))?;
                let (name, descriptor) =
                    names.find(pool, self.method, slot, value, code.pc(next), code.pc(next + 1))?;
                Some(Target { owner: None, name, descriptor, is_static: false, of_this: false })
            }
        }
    }

    /// The probes at a site. Probes with unavailable captures are skipped.
    fn probes_at(&mut self, kind: SiteKind<'_>, parameters: &[&str], result: Option<&str>) -> Vec<Probe> {
        let method = self.method;
        let mut probes = self.plan.probes(&Site {
            class: method.class,
            method: method.name,
            descriptor: method.descriptor,
            is_static: method.is_static,
            line: self.line,
            kind,
        });
        probes.retain(|probe| {
            let unavailable = probe
                .captures
                .iter()
                .find_map(|&capture| unavailable_reason(capture, kind, parameters.len(), result));
            if let Some(reason) = unavailable {
                self.skipped.push(SkippedMethod {
                    method: method.name.to_owned(),
                    descriptor: method.descriptor.to_owned(),
                    probes: vec![probe.id],
                    reason: Cow::Borrowed(reason),
                });
            }
            unavailable.is_none()
        });
        probes
    }
}

/// See [`StoreTarget`].
struct Target<'b> {
    /// `None` for a local variable.
    owner: Option<Cow<'b, str>>,
    name: Cow<'b, str>,
    descriptor: Cow<'b, str>,
    is_static: bool,
    of_this: bool,
}

impl Target<'_> {
    fn stored(&self) -> StoreTarget<'_> {
        let (name, descriptor) = (&*self.name, &*self.descriptor);
        match &self.owner {
            Some(owner) => StoreTarget::Field {
                owner,
                name,
                descriptor,
                is_static: self.is_static,
                of_this: self.of_this,
            },
            None => StoreTarget::Local { name, descriptor },
        }
    }
}

/// Whether `this` is on the stack below the object under construction, pushed right before the `new`.
fn is_this_below(pool: &Pool<'_>, code: &Code<'_>, call: usize) -> bool {
    const ALOAD_0: u8 = 0x2a;
    // If the arguments take more code than this, the result is `false`.
    const FARTHEST: usize = 4096;
    let mut open = 1;
    for index in (0..call).rev().take(FARTHEST) {
        match code.op(index) {
            opcode::INVOKESPECIAL
                if pool.method(code.operand(index)).is_some_and(|method| method.name == "<init>") =>
            {
                open += 1;
            }
            opcode::NEW => open -= 1,
            _ => {}
        }
        if open == 0 {
            return index > 0 && code.op(index - 1) == ALOAD_0;
        }
    }
    false
}

/// Why a capture is not available at a site.
fn unavailable_reason(
    capture: Capture,
    kind: SiteKind<'_>,
    parameter_count: usize,
    result: Option<&str>,
) -> Option<&'static str> {
    let (is_available, reason) = match capture {
        Capture::This => (true, ""),
        Capture::Argument(index) => {
            (usize::from(index) < parameter_count, "the method has fewer parameters than the probe captures")
        }
        Capture::Result => (
            result.is_some()
                && matches!(kind, SiteKind::Return | SiteKind::Call { when: CallSide::After, .. }),
            "there is no result at this site",
        ),
        Capture::Value => (
            matches!(kind, SiteKind::Field { .. } | SiteKind::Local { .. }),
            "nothing is written at this site",
        ),
        Capture::Owner => (
            matches!(kind, SiteKind::Field { .. } | SiteKind::Call { .. }),
            "no field or method is used at this site",
        ),
        Capture::Thrown => (matches!(kind, SiteKind::ExceptionalExit), "nothing is thrown at this site"),
    };
    (!is_available).then_some(reason)
}

/// The entries of the line number tables, by offset.
fn lines(raw: &ClassFileParts<'_>, code: &Code<'_>) -> Result<Vec<(u16, u16)>, ClassFileError> {
    const PART: &str = "the line number table";
    let mut lines = Vec::new();
    for attribute in &code.attributes {
        if raw.pool.raw(attribute.name) == Some(b"LineNumberTable") {
            let mut reader = Reader::part(raw.bytes, attribute.start, attribute.end);
            for _ in 0..reader.u2(PART)? {
                lines.push((reader.u2(PART)?, reader.u2(PART)?));
            }
        }
    }
    lines.sort_by_key(|&(pc, _)| pc);
    Ok(lines)
}

/// The names of the variables of a method.
#[derive(Default)]
struct Names {
    /// For each entry of the local variable table: slot, start, length, and the constants of name and type.
    locals: Vec<[u16; 5]>,
    /// The names of the parameters, if the class file has them.
    parameters: Vec<String>,
}

impl Names {
    fn read(raw: &ClassFileParts<'_>, member: &Member, code: &Code<'_>) -> Result<Names, ClassFileError> {
        const PART: &str = "the local variable table";
        let parameters = match raw.attribute(&member.attributes, b"MethodParameters") {
            Some(attribute) => crate::class::parameter_names(raw, attribute)?,
            None => Vec::new(),
        };
        let mut locals = Vec::new();
        let is_table = |attribute: &&Attribute| raw.pool.raw(attribute.name) == Some(b"LocalVariableTable");
        for attribute in code.attributes.iter().filter(is_table) {
            let mut reader = Reader::part(raw.bytes, attribute.start, attribute.end);
            for _ in 0..reader.u2(PART)? {
                let mut word = || reader.u2(PART);
                let [start, length, name, descriptor, slot] = [word()?, word()?, word()?, word()?, word()?];
                locals.push([slot, start, length, name, descriptor]);
            }
        }
        locals.sort_unstable();
        Ok(Names { locals, parameters })
    }

    /// The variable that the instruction between two offsets writes. Its scope usually starts right after the first
    /// write.
    fn find<'b>(
        &'b self,
        pool: &Pool<'b>,
        method: &'b Method<'_>,
        slot: u16,
        shape: Shape,
        pc: usize,
        next: usize,
    ) -> Option<(Cow<'b, str>, Cow<'b, str>)> {
        for offset in [next, pc] {
            let end =
                self.locals.partition_point(|local| (local[0], usize::from(local[1])) <= (slot, offset));
            let Some(local) = end.checked_sub(1).map(|at| self.locals[at]) else { continue };
            if local[0] == slot && offset < usize::from(local[1]) + usize::from(local[2]).max(1) {
                let found = (pool.text(local[3])?, pool.text(local[4])?);
                return (Shape::of(&found.1) == Some(shape)).then_some(found);
            }
        }
        let index = method.slots().position(|parameter| parameter == (slot, shape))?;
        let name = self.parameters.get(index).map_or("", String::as_str);
        Some((Cow::Borrowed(name), Cow::Borrowed(method.parameters[index])))
    }
}
