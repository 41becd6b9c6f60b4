//! What the system tells: signals, processes, threads, system calls.

use super::params::{known, text_value, value};
use super::{Plan, What};
use crate::engine::{lost, signal_name};
use crate::sys::{SignalInfo, Tid};
use crate::target::{Target, View};
use invigil_debuginfo::value::Plain;
use invigil_expr::value::Value;
use invigil_monitor::event::{Source, Stamp, Type};
use invigil_session::subject::{Done, Stop};

impl Target {
    /// What the system tells by itself, if a monitor wants to know it.
    pub(crate) fn system_event(&mut self, tid: Tid, name: &str) -> Done<Option<Stop>> {
        let child = self.plans.last_child;
        let process = self.engine.process;
        let path = || std::fs::read_link(format!("/proc/{process}/exe")).unwrap_or_default();
        let fact = |word: &str| match (name, word) {
            ("#fork", "child") => Some(Plain::Int(child.into())),
            ("#thread" | "#thread_exit", "thread" | "id" | "tid") => Some(Plain::Int(tid.into())),
            ("#exec", "path") => Some(Plain::Str(path().display().to_string())),
            _ => None,
        };
        let status = match &self.ended {
            Some(invigil_session::subject::Ending::Exited(status)) => Some(*status),
            _ => None,
        };
        self.tell_system(tid, name, |word| match (name, word, status) {
            ("#exit", "status", Some(status)) => Some(Plain::Int(status.into())),
            _ => fact(word),
        })
    }

    pub(crate) fn signal_event(&mut self, tid: Tid, info: SignalInfo) -> Done<Option<Stop>> {
        self.tell_system(tid, "#signal", |word| match word {
            "signal" | "number" => Some(Plain::Int(info.number.into())),
            "name" => Some(Plain::Str(signal_name(info.number))),
            "address" => Some(Plain::Int(info.address as i64)),
            "sender" => Some(Plain::Int(info.sender.into())),
            _ => None,
        })
    }

    fn tell_system(
        &mut self,
        tid: Tid,
        name: &str,
        fact: impl Fn(&str) -> Option<Plain>,
    ) -> Done<Option<Stop>> {
        let is_told = |plan: &&Plan| plan.active && plan.name == name;
        if !self.plans.all.iter().any(|plan| is_told(&plan)) {
            return Ok(None);
        }
        self.batch.clear();
        let time = self.began.elapsed().as_secs_f64();
        for plan in self.plans.all.iter().filter(is_told) {
            let mut values = Vec::new();
            for param in &plan.params {
                let plain = match &param.source {
                    Source::Name(word) => fact(word),
                    _ => None,
                };
                values.push(match plain {
                    Some(plain) => value(&plain, param.ty, &mut self.batch),
                    None => known(&param.source, tid, self.engine.process, time),
                });
            }
            self.batch.push(plan.symbol, &values, Stamp { time, line: 0 });
        }
        self.current = tid;
        self.serving = self.engine.tasks.contains_key(&tid).then_some(tid);
        Ok(Some(Stop::Events))
    }

    /// A thread enters or leaves a system call.
    pub(crate) fn syscall(&mut self, tid: Tid, entering: bool) -> Done<Option<Stop>> {
        let regs = self.engine.task(tid)?.registers().map_err(lost)?;
        if let Some(stop) = self.watch_syscall(tid, &regs, entering)? {
            return Ok(Some(stop));
        }
        self.batch.clear();
        let time = self.began.elapsed().as_secs_f64();
        let view = View { memory: &self.engine.memory, sites: &self.engine.sites };
        for plan in self.plans.all.iter().filter(|plan| plan.active) {
            let wanted = What::Syscall { number: regs.orig_rax as i64, after: !entering };
            if plan.what != wanted {
                continue;
            }
            let arguments = [regs.rdi, regs.rsi, regs.rdx, regs.r10, regs.r8, regs.r9];
            let mut values = Vec::new();
            for param in &plan.params {
                let raw = match &param.source {
                    Source::Arg(i) => arguments.get((*i as usize).wrapping_sub(1)).copied(),
                    Source::Ret if !entering => Some(regs.rax),
                    _ => None,
                };
                values.push(match (raw, param.ty) {
                    (Some(address), Some(Type::Str)) => invigil_debuginfo::value::text_at(&view, address)
                        .map_or(Value::UNSET, |text| text_value(&text, &mut self.batch)),
                    (Some(raw), ty) => value(&Plain::Int(raw as i64), ty, &mut self.batch),
                    (None, _) => known(&param.source, tid, self.engine.process, time),
                });
            }
            self.batch.push(plan.symbol, &values, Stamp { time, line: 0 });
        }
        if self.batch.is_empty() {
            if self.engine.is_held() { self.engine.let_all_go() } else { self.engine.let_go(tid) }?;
            return Ok(None);
        }
        self.current = tid;
        self.serving = Some(tid);
        Ok(Some(Stop::Events))
    }
}
