//! What blocks of scenarios ask of the session.

use crate::listen::Speaker;
use crate::outcome::{Reason, VerdictChange};
use crate::playing::string;
use crate::session::{Deferred, Session};
use crate::subject::{Owner, PointId, PointSpec, Trouble, What};
use crate::words::{Plain, Read, read_value};
use invigil_expr::compare::View;
use invigil_expr::fault::{Fault, FaultKind, Run};
use invigil_expr::machine::Host;
use invigil_expr::program::CodeId;
use invigil_expr::value::Value;
use invigil_lang::scn::{Function, Scenario};
use std::sync::Arc;

/// The session, as a block sees it.
pub(crate) struct Hosting<'a> {
    session: &'a mut Session,
    scenario: usize,
    script: Arc<Scenario>,
    change: Option<&'a VerdictChange>,
    /// The text in which a string lies that was given to the block.
    reply: String,
}

impl<'a> Hosting<'a> {
    pub(crate) fn new(
        session: &'a mut Session,
        scenario: usize,
        script: Arc<Scenario>,
        change: Option<&'a VerdictChange>,
    ) -> Hosting<'a> {
        Hosting { session, scenario, script, change, reply: String::new() }
    }
}

impl Host for Hosting<'_> {
    fn printing(&self) -> bool {
        true
    }

    fn print(&mut self, line: &str) {
        self.session.listener.line(Speaker::Scenario(self.scenario), line);
    }

    fn call(&mut self, function: usize, args: &[Value], view: View<'_>) -> Run<Value> {
        let args = Arguments { args, view };
        match Function::numbered(function) {
            Some(function) => self.perform(function, &args),
            None => Err(fault("there is no such function")),
        }
    }

    fn text(&self) -> &str {
        &self.reply
    }
}

impl Hosting<'_> {
    fn perform(&mut self, function: Function, args: &Arguments<'_>) -> Run<Value> {
        let session = &mut *self.session;
        match function {
            Function::Checkpoint => {
                let id = session.checkpoint("by the scenario").map_err(trouble)?;
                return Ok(Value::int(i64::from(id)));
            }
            Function::CheckpointId => return args.last_number(0).map(Value::int),
            Function::Restore => session.restore(args.id(0)?).map_err(trouble)?,
            Function::Forget => session.forget(args.id(0)?).map_err(trouble)?,
            Function::Suspend => {
                let reason = session.turn.about.clone().unwrap_or(Reason::Start);
                session.turn.suspend(reason);
            }
            Function::Stop => session.turn.stop = true,
            Function::AfterBreakpoint => {
                let function = self.function(&args.text(0)?)?;
                let (scenario, change) = (self.scenario, self.change.cloned());
                let about = self.session.turn.about.clone();
                self.session.turn.deferred.push(Deferred { scenario, function, change, about });
            }
            Function::SetBreakpoint => {
                let what = What::Reach(args.text(0)?);
                return self.set_point(what, args, 1);
            }
            Function::SetWatchpoint => {
                let (of, mode) = (args.text(0)?, args.text(1)?);
                let (read, write) = match mode.as_str() {
                    "r" => (true, false),
                    "w" => (false, true),
                    "rw" | "wr" => (true, true),
                    other => {
                        let words =
                            format!("`{other}` is no kind of access: there are \"w\", \"r\" and \"rw\"");
                        return Err(fault(words));
                    }
                };
                return self.set_point(What::Access { of, read, write }, args, 2);
            }
            Function::UnsetPoint => {
                let point = PointId(args.id(0)?);
                session.subject.remove_point(point).map_err(trouble)?;
                session.callbacks.remove(&point);
            }
            Function::Debugger => {
                let words = session.command(&args.text(0)?).map_err(fault)?;
                return Ok(self.give(&words));
            }
            Function::Value => {
                let words = session.subject.print(&args.text(0)?).map_err(trouble)?;
                return Ok(match read_value(&words) {
                    Read::Text(text) => self.give(&text),
                    Read::Plain(Plain::None) => Value::NONE,
                    Read::Plain(Plain::Bool(value)) => Value::bool(value),
                    Read::Plain(Plain::Int(value)) => Value::int(value),
                    Read::Plain(Plain::Float(value)) => Value::float(value),
                });
            }
        }
        Ok(Value::NONE)
    }

    /// A string for the block.
    fn give(&mut self, words: &str) -> Value {
        self.reply.clear();
        string(words, &mut self.reply)
    }

    fn function(&self, name: &str) -> Run<CodeId> {
        self.script.program.function(name).ok_or_else(|| fault(format!("there is no function `{name}`")))
    }

    fn set_point(&mut self, what: What, args: &Arguments<'_>, callback: usize) -> Run<Value> {
        let function = match args.args.get(callback) {
            Some(_) => Some(self.function(&args.text(callback)?)?),
            None => None,
        };
        let spec = PointSpec::new(what);
        let point = self.session.subject.set_point(Owner::Scenario, &spec).map_err(trouble)?;
        if let Some(function) = function {
            self.session.callbacks.insert(point, (self.scenario, function));
        }
        Ok(Value::int(i64::from(point.0)))
    }
}

/// The arguments of a call.
struct Arguments<'a> {
    args: &'a [Value],
    view: View<'a>,
}

impl Arguments<'_> {
    fn get(&self, at: usize) -> Value {
        self.args.get(at).copied().unwrap_or(Value::NONE)
    }

    fn text(&self, at: usize) -> Run<String> {
        let value = self.get(at);
        match self.view.str(&value) {
            Some(text) => Ok(text.to_owned()),
            None => Err(self.wrong(value, "a string")),
        }
    }

    /// The number of a checkpoint or a point.
    fn id(&self, at: usize) -> Run<u32> {
        let number = self.last_number(at)?;
        u32::try_from(number).map_err(|_| fault(format!("there is no number {number}")))
    }

    /// A number, or the last one of a list.
    fn last_number(&self, at: usize) -> Run<i64> {
        let value = self.get(at);
        let number = value.as_int().or_else(|| self.view.last(value)?.as_int());
        number.ok_or_else(|| self.wrong(value, "a number, or a list of numbers"))
    }

    fn wrong(&self, value: Value, wanted: &str) -> Box<Fault> {
        let found = self.view.type_name(value);
        Fault::new(FaultKind::Type, format!("expected {wanted}, found {found}"))
    }
}

fn fault(words: impl Into<String>) -> Box<Fault> {
    Fault::new(FaultKind::Value, words)
}

fn trouble(trouble: Trouble) -> Box<Fault> {
    fault(trouble.to_string())
}
