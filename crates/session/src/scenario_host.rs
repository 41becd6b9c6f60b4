//! The functions that blocks of scenarios can call.

use crate::listener::MessageSource;
use crate::outcome::{StateChange, SuspendReason};
use crate::session::{Deferred, Session};
use crate::value_text::{ParsedValue, Scalar, parse_value};
use invigil_expr::compare::ValueReader;
use invigil_expr::fault::{EvalResult, Fault, FaultKind};
use invigil_expr::machine::Host;
use invigil_expr::program::CodeId;
use invigil_expr::value::Value;
use invigil_lang::scn::{Scenario, ScenarioFunction};
use invigil_target::{BreakpointId, BreakpointKind, BreakpointSpec, Owner, TargetError};
use std::sync::Arc;

/// Host of a scenario's blocks: executes the functions that they call on the session.
pub(crate) struct ScenarioHost<'a> {
    session: &'a mut Session,
    scenario_index: usize,
    scenario: Arc<Scenario>,
    change: Option<&'a StateChange>,
    /// Backing text of the last string that was returned to the block.
    returned_text: String,
}

impl<'a> ScenarioHost<'a> {
    pub(crate) fn new(
        session: &'a mut Session,
        scenario_index: usize,
        scenario: Arc<Scenario>,
        change: Option<&'a StateChange>,
    ) -> ScenarioHost<'a> {
        ScenarioHost { session, scenario_index, scenario, change, returned_text: String::new() }
    }
}

impl Host for ScenarioHost<'_> {
    fn wants_output(&self) -> bool {
        true
    }

    fn print(&mut self, line: &str) {
        self.session.listener.message(MessageSource::Scenario(self.scenario_index), line);
    }

    fn call(&mut self, function: usize, args: &[Value], reader: ValueReader<'_>) -> EvalResult<Value> {
        let args = Arguments { args, reader };
        match ScenarioFunction::from_number(function) {
            Some(function) => self.perform(function, &args),
            None => Err(fault(format!("unknown session function number {function}"))),
        }
    }

    fn text(&self) -> &str {
        &self.returned_text
    }
}

impl ScenarioHost<'_> {
    fn perform(&mut self, function: ScenarioFunction, args: &Arguments<'_>) -> EvalResult<Value> {
        let session = &mut *self.session;
        match function {
            ScenarioFunction::Checkpoint => {
                let id = session.take_checkpoint("taken by a scenario").map_err(target_fault)?;
                return Ok(Value::int(i64::from(id)));
            }
            ScenarioFunction::CheckpointId => return args.last_number(0).map(Value::int),
            ScenarioFunction::Restore => session.restore_checkpoint(args.id(0)?).map_err(target_fault)?,
            ScenarioFunction::DropCheckpoint => session.drop_checkpoint(args.id(0)?).map_err(target_fault)?,
            ScenarioFunction::Suspend => {
                let reason = session.handling.cause.clone().unwrap_or(SuspendReason::Start);
                session.handling.suspend(reason);
            }
            ScenarioFunction::Kill => session.handling.kill = true,
            ScenarioFunction::AfterBreakpoint => {
                let function = self.function(&args.text(0)?)?;
                let (scenario, change) = (self.scenario_index, self.change.cloned());
                let cause = self.session.handling.cause.clone();
                self.session.handling.deferred.push(Deferred { scenario, function, change, cause });
            }
            ScenarioFunction::SetBreakpoint => {
                let kind = BreakpointKind::Location(args.text(0)?);
                return self.set_breakpoint(kind, args, 1);
            }
            ScenarioFunction::SetWatchpoint => {
                let (expression, mode) = (args.text(0)?, args.text(1)?);
                let (read, write) = match mode.as_str() {
                    "r" => (true, false),
                    "w" => (false, true),
                    "rw" | "wr" => (true, true),
                    other => {
                        let message = format!("unknown access mode `{other}`: use \"w\", \"r\" or \"rw\"");
                        return Err(fault(message));
                    }
                };
                return self.set_breakpoint(BreakpointKind::Watch { expression, read, write }, args, 2);
            }
            ScenarioFunction::RemoveBreakpoint => {
                let id = BreakpointId(args.id(0)?);
                session.target.remove_breakpoint(id).map_err(target_fault)?;
                session.callbacks.remove(&id);
            }
            ScenarioFunction::Debugger => {
                let output = session.command(&args.text(0)?).map_err(fault)?;
                return Ok(self.return_string(&output));
            }
            ScenarioFunction::Value => {
                let rendered = session.target.evaluate(&args.text(0)?).map_err(target_fault)?;
                return Ok(match parse_value(&rendered) {
                    ParsedValue::Text(text) => self.return_string(&text),
                    ParsedValue::Scalar(Scalar::None) => Value::NONE,
                    ParsedValue::Scalar(Scalar::Bool(value)) => Value::bool(value),
                    ParsedValue::Scalar(Scalar::Int(value)) => Value::int(value),
                    ParsedValue::Scalar(Scalar::Float(value)) => Value::float(value),
                });
            }
        }
        Ok(Value::NONE)
    }

    /// Returns a string to the block.
    fn return_string(&mut self, string: &str) -> Value {
        self.returned_text.clear();
        Value::of_text(string, &mut self.returned_text)
    }

    fn function(&self, name: &str) -> EvalResult<CodeId> {
        self.scenario.program.function(name).ok_or_else(|| fault(format!("there is no function `{name}`")))
    }

    fn set_breakpoint(
        &mut self,
        kind: BreakpointKind,
        args: &Arguments<'_>,
        callback_position: usize,
    ) -> EvalResult<Value> {
        let function = match args.args.get(callback_position) {
            Some(_) => Some(self.function(&args.text(callback_position)?)?),
            None => None,
        };
        let spec = BreakpointSpec::new(kind);
        let id = self.session.target.set_breakpoint(Owner::Scenario, &spec).map_err(target_fault)?;
        if let Some(function) = function {
            self.session.callbacks.insert(id, (self.scenario_index, function));
        }
        Ok(Value::int(i64::from(id.0)))
    }
}

/// The arguments of a call.
struct Arguments<'a> {
    args: &'a [Value],
    reader: ValueReader<'a>,
}

impl Arguments<'_> {
    fn get(&self, at: usize) -> Value {
        self.args.get(at).copied().unwrap_or(Value::NONE)
    }

    fn text(&self, at: usize) -> EvalResult<String> {
        let value = self.get(at);
        match self.reader.str(&value) {
            Some(text) => Ok(text.to_owned()),
            None => Err(self.type_fault(value, "a string")),
        }
    }

    /// The number of a checkpoint or a breakpoint.
    fn id(&self, at: usize) -> EvalResult<u32> {
        let number = self.last_number(at)?;
        u32::try_from(number).map_err(|_| fault(format!("there is no checkpoint or breakpoint {number}")))
    }

    /// A number, or the last one of a list.
    fn last_number(&self, at: usize) -> EvalResult<i64> {
        let value = self.get(at);
        let number = value.as_int().or_else(|| self.reader.last(value)?.as_int());
        number.ok_or_else(|| self.type_fault(value, "a number, or a list of numbers"))
    }

    fn type_fault(&self, value: Value, expected: &str) -> Box<Fault> {
        let found = self.reader.type_name(value);
        Fault::new(FaultKind::Type, format!("expected {expected}, found {found}"))
    }
}

fn fault(message: impl Into<String>) -> Box<Fault> {
    Fault::new(FaultKind::Value, message)
}

fn target_fault(error: TargetError) -> Box<Fault> {
    fault(error.to_string())
}
