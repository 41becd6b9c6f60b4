//! Inspecting the stopped program.

use crate::breakpoints::location_text;
use crate::target::JavaTarget;
use invigil_jvm_agent::protocol::{Answer, CodeLocation, Frame as AgentFrame, Request};
use invigil_target::{Frame, SourceLine, TargetError, TargetResult, Thread, Variable};

/// The error for an answer of the wrong kind.
fn unexpected_answer<T>() -> TargetResult<T> {
    Err(TargetError::Control("unexpected answer from the agent in the virtual machine".to_owned()))
}

fn variables(pairs: Vec<(String, String)>) -> Vec<Variable> {
    pairs.into_iter().map(|(name, value)| Variable { name, value }).collect()
}

impl JavaTarget {
    /// The frames of the selected thread.
    pub(crate) fn current_frames(&mut self, limit: usize) -> TargetResult<Vec<AgentFrame>> {
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        self.stop_program()?;
        match self.request(&Request::Frames { thread: self.current, limit })? {
            Answer::Frames { frames } => Ok(frames),
            _ => unexpected_answer(),
        }
    }

    /// Stops the program. Selects the first thread with frames if no thread was selected before.
    fn stop_program(&mut self) -> TargetResult {
        self.suspend_all()?;
        if self.current != 0 {
            return Ok(());
        }
        if let Answer::Threads { threads } = self.request(&Request::Threads)? {
            let first = threads.iter().find(|thread| thread.location.is_some()).or(threads.first());
            self.current = first.map_or(0, |thread| thread.id);
        }
        Ok(())
    }

    pub(crate) fn shown_frames(&mut self, limit: usize) -> TargetResult<Vec<Frame>> {
        let frames = self.current_frames(limit)?;
        let shown = frames.into_iter().map(|reported| Frame {
            address: reported.location.bytecode_index,
            function: format!("{}.{}", reported.location.class, reported.location.method),
            inlined: false,
            arguments: variables(reported.arguments),
            line: self.line_of(&reported.location),
            object: None,
        });
        Ok(shown.collect())
    }

    fn line_of(&mut self, location: &CodeLocation) -> Option<SourceLine> {
        if location.line == 0 {
            return None;
        }
        self.sources.file(location).map(|file| SourceLine { file, line: location.line, column: 0 })
    }

    pub(crate) fn go_to_frame(&mut self, depth: usize) -> TargetResult {
        let count = self.current_frames(depth.saturating_add(1))?.len();
        if depth >= count {
            return Err(TargetError::Request(format!("there are {count} frames")));
        }
        self.frame = depth;
        Ok(())
    }

    pub(crate) fn list_threads(&mut self) -> Vec<Thread> {
        if self.stop_program().is_err() {
            return Vec::new();
        }
        let Ok(Answer::Threads { threads }) = self.request(&Request::Threads) else { return Vec::new() };
        let reported = threads.into_iter().map(|thread| {
            let mut at = thread.location.as_ref().map_or(String::new(), location_text);
            if !thread.state.is_empty() {
                at = format!("{at}, {}", thread.state);
            }
            Thread { selected: thread.id == self.current, id: thread.id, name: thread.name, location: at }
        });
        reported.collect()
    }

    pub(crate) fn go_to_thread(&mut self, id: u32) -> TargetResult {
        if !self.list_threads().iter().any(|thread| thread.id == id) {
            return Err(TargetError::Request(format!("there is no thread {id}; see `info threads`")));
        }
        (self.current, self.frame) = (id, 0);
        Ok(())
    }

    fn require_locals(&self) -> TargetResult {
        match self.info.locals {
            true => Ok(()),
            false => Err(TargetError::Request(
                "local variables are available only in a program that was started with `invigil run`"
                    .to_owned(),
            )),
        }
    }

    pub(crate) fn list_locals(&mut self) -> TargetResult<Vec<Variable>> {
        self.require_locals()?;
        self.stop_program()?;
        let request = Request::Locals { thread: self.current, depth: self.frame as u32 };
        match self.request(&request)? {
            Answer::Pairs { pairs } => Ok(variables(pairs)),
            _ => unexpected_answer(),
        }
    }

    pub(crate) fn value_of(&mut self, text: &str) -> TargetResult<String> {
        self.stop_program()?;
        let request =
            Request::Evaluate { thread: self.current, depth: self.frame as u32, text: text.to_owned() };
        self.text_answer(&request)
    }

    pub(crate) fn type_name(&mut self, text: &str) -> TargetResult<String> {
        self.stop_program()?;
        let request =
            Request::TypeOf { thread: self.current, depth: self.frame as u32, text: text.to_owned() };
        self.text_answer(&request)
    }

    fn text_answer(&mut self, request: &Request) -> TargetResult<String> {
        match self.request(request)? {
            Answer::Text { text } => Ok(text),
            _ => unexpected_answer(),
        }
    }

    pub(crate) fn assign_value(&mut self, place: &str, value: &str) -> TargetResult {
        self.stop_program()?;
        let request = Request::Assign {
            thread: self.current,
            depth: self.frame as u32,
            place: place.to_owned(),
            value: value.to_owned(),
        };
        self.request(&request).map(drop)
    }

    pub(crate) fn find_line(&mut self, place: Option<&str>) -> TargetResult<Option<SourceLine>> {
        let Some(name) = place else {
            let depth = self.frame;
            let frame = self.current_frames(depth + 1)?.into_iter().nth(depth);
            return Ok(frame.and_then(|frame| self.line_of(&frame.location)));
        };
        if let Ok(line) = name.trim().parse() {
            let here = self.find_line(None)?;
            return Ok(here.map(|here| SourceLine { line, ..here }));
        }
        match self.request(&Request::FindLocation { name: name.to_owned() })? {
            Answer::Locations { locations } => {
                Ok(locations.first().and_then(|location| self.line_of(location)))
            }
            _ => unexpected_answer(),
        }
    }

    pub(crate) fn method_names(&mut self, prefix: &str) -> Vec<String> {
        match self.request(&Request::CompleteMethod { prefix: prefix.to_owned() }) {
            Ok(Answer::Names { names }) => names,
            _ => Vec::new(),
        }
    }

    pub(crate) fn all_info(&mut self) -> Vec<(String, String)> {
        let yes = |allowed: bool| if allowed { "yes" } else { "no" };
        let reported = &self.info;
        let mut facts = vec![
            ("process".to_owned(), self.process_id().to_string()),
            ("virtual machine".to_owned(), reported.machine.clone()),
            ("class path".to_owned(), reported.class_path.clone()),
            ("local variables".to_owned(), yes(reported.locals).to_owned()),
            ("breakpoints at lines".to_owned(), yes(reported.breakpoints).to_owned()),
            ("steps".to_owned(), yes(reported.steps).to_owned()),
            ("another debugger".to_owned(), yes(reported.debugger).to_owned()),
        ];
        if let Some(ending) = &self.ended {
            facts.push(("ended".to_owned(), ending.to_string()));
        }
        if let Ok(Answer::Pairs { pairs }) = self.request(&Request::Statistics) {
            facts.extend(pairs);
        }
        facts
    }
}
