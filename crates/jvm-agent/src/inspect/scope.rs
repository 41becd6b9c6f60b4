//! Resolving names in a frame.

use crate::agent::Agent;
use crate::evaluate::Scope;
use crate::inspect::stack;
use crate::vm::{Jni, Local, Method, Primitive, Ref, Variable};

/// A frame of a thread.
pub(crate) struct Frame<'a> {
    pub(crate) agent: &'a Agent,
    /// `None` for the current thread.
    pub(crate) thread: Option<Ref>,
    /// As the virtual machine counts.
    pub(crate) depth: i32,
    pub(crate) method: Method,
    pub(crate) location: i64,
}

impl<'a> Frame<'a> {
    /// The innermost frame of the current thread.
    pub(crate) fn current(agent: &'a Agent, method: Method, location: i64) -> Frame<'a> {
        Frame { agent, thread: None, depth: 0, method, location }
    }

    /// A frame of a stopped thread; `depth` counts the frames that a user sees.
    pub(crate) fn of(agent: &'a Agent, jni: Jni, thread: Ref, depth: u32) -> Result<Frame<'a>, String> {
        let depth = stack::hidden_frames(agent, jni, Some(thread)).saturating_add_unsigned(depth);
        let (method, location) = agent.ti.frame(Some(thread), depth).map_err(crate::vm::error_text)?;
        Ok(Frame { agent, thread: Some(thread), depth, method, location })
    }

    /// The variables that are live now, arguments first.
    pub(crate) fn variables(&self) -> Vec<Variable> {
        let arguments = self.agent.ti.arguments_size(self.method).unwrap_or(0);
        let mut all = self.agent.ti.variables(self.method).unwrap_or_default();
        all.retain(|variable| {
            let begun = variable.start <= self.location || variable.slot < arguments;
            begun && self.location < variable.start + variable.length
        });
        // Of two variables in one slot, the one whose range starts last is live.
        all.sort_by_key(|variable| (variable.slot, std::cmp::Reverse(variable.start)));
        all.dedup_by_key(|variable| variable.slot);
        all
    }

    /// The arguments, with their names if those are known.
    pub(crate) fn arguments(&self) -> Vec<Variable> {
        let size = self.agent.ti.arguments_size(self.method).unwrap_or(0);
        let known: Vec<Variable> =
            self.variables().into_iter().filter(|variable| variable.slot < size).collect();
        if !known.is_empty() || size == 0 {
            return known;
        }
        let descriptor =
            self.agent.ti.method_name(self.method).map_or(String::new(), |(_, descriptor)| descriptor);
        let mut slot = i32::from(!self.agent.ti.is_static(self.method));
        let mut all = Vec::new();
        for (at, signature) in crate::names::parameters(&descriptor).into_iter().enumerate() {
            all.push(Variable {
                name: format!("arg{}", at + 1),
                signature: signature.to_owned(),
                slot,
                start: 0,
                length: i64::MAX,
            });
            slot += if matches!(signature, "J" | "D") { 2 } else { 1 };
        }
        all
    }

    /// The variable of this name.
    pub(crate) fn find(&self, name: &str) -> Option<Variable> {
        let known = self.variables().into_iter().find(|variable| variable.name == name);
        known.or_else(|| self.arguments().into_iter().find(|variable| variable.name == name))
    }

    /// The value of a variable.
    pub(crate) fn read(&self, variable: &Variable) -> Result<Primitive, String> {
        let local = self
            .agent
            .ti
            .local(self.thread, self.depth, variable.slot, &variable.signature)
            .map_err(crate::vm::error_text)?;
        Ok(primitive(local, &variable.signature))
    }
}

fn primitive(local: Local, signature: &str) -> Primitive {
    match (local, signature.as_bytes().first()) {
        (Local::Int(value), Some(b'Z')) => Primitive::Bool(value != 0),
        (Local::Int(value), Some(b'B')) => Primitive::Byte(value as i8),
        (Local::Int(value), Some(b'C')) => Primitive::Char(value as u16),
        (Local::Int(value), Some(b'S')) => Primitive::Short(value as i16),
        (Local::Int(value), _) => Primitive::Int(value),
        (Local::Long(value), _) => Primitive::Long(value),
        (Local::Float(value), _) => Primitive::Float(value),
        (Local::Double(value), _) => Primitive::Double(value),
        (Local::Object(object), _) => Primitive::Object(object),
    }
}

impl Scope for Frame<'_> {
    fn variable(&self, name: &str) -> Option<Result<Primitive, String>> {
        let variable = self.find(name)?;
        Some(self.read(&variable).map_err(|error| format!("`{name}` cannot be read: {error}")))
    }

    fn this(&self) -> Option<Ref> {
        if self.agent.ti.is_static(self.method) || self.agent.ti.is_native(self.method) {
            return None;
        }
        match self.agent.ti.local(self.thread, self.depth, 0, "L") {
            Ok(Local::Object(object)) => object,
            _ => None,
        }
    }

    fn class(&self) -> Option<Ref> {
        self.agent.ti.declaring_class(self.method).ok()
    }

    fn obstacle(&self) -> Option<String> {
        if self.agent.ti.is_static(self.method) || self.agent.ti.is_native(self.method) {
            return None;
        }
        let looked = self.agent.ti.local(self.thread, self.depth, 0, "L");
        looked.err().map(crate::vm::error_text)
    }
}
