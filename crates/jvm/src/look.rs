//! Looking at the program while it stands still.

use crate::points::place_words;
use crate::target::Target;
use invigil_jvm_agent::protocol::{Answer, Frame as Told, Request, Spot};
use invigil_session::subject::{Done, Frame, Line, Thread, Trouble, Variable};

/// What the agent should not have answered.
fn strange<T>() -> Done<T> {
    Err(Trouble::Subject("the agent in the virtual machine answered something else".to_owned()))
}

fn variables(pairs: Vec<(String, String)>) -> Vec<Variable> {
    pairs.into_iter().map(|(name, value)| Variable { name, value }).collect()
}

impl Target {
    /// The frames of the selected thread.
    pub(crate) fn current_frames(&mut self, limit: usize) -> Done<Vec<Told>> {
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        self.stand()?;
        match self.ask(&Request::Frames { thread: self.current, limit })? {
            Answer::Frames { frames } => Ok(frames),
            _ => strange(),
        }
    }

    /// Makes the program stand still. Before any thread came to a place, the first one is looked at.
    fn stand(&mut self) -> Done {
        self.hold_all()?;
        if self.current != 0 {
            return Ok(());
        }
        if let Answer::Threads { threads } = self.ask(&Request::Threads)? {
            let first = threads.iter().find(|thread| thread.at.is_some()).or(threads.first());
            self.current = first.map_or(0, |thread| thread.id);
        }
        Ok(())
    }

    pub(crate) fn shown_frames(&mut self, limit: usize) -> Done<Vec<Frame>> {
        let frames = self.current_frames(limit)?;
        let shown = frames.into_iter().map(|told| Frame {
            address: told.spot.location,
            function: format!("{}.{}", told.spot.class, told.spot.method),
            inlined: false,
            arguments: variables(told.arguments),
            line: self.line_of(&told.spot),
            object: None,
        });
        Ok(shown.collect())
    }

    fn line_of(&mut self, spot: &Spot) -> Option<Line> {
        if spot.line == 0 {
            return None;
        }
        self.sources.file(spot).map(|file| Line { file, line: spot.line, column: 0 })
    }

    pub(crate) fn go_to_frame(&mut self, depth: usize) -> Done {
        let count = self.current_frames(depth.saturating_add(1))?.len();
        if depth >= count {
            return Err(Trouble::Request(format!("there are {count} frames")));
        }
        self.frame = depth;
        Ok(())
    }

    pub(crate) fn list_threads(&mut self) -> Vec<Thread> {
        if self.stand().is_err() {
            return Vec::new();
        }
        let Ok(Answer::Threads { threads }) = self.ask(&Request::Threads) else { return Vec::new() };
        let told = threads.into_iter().map(|thread| {
            let mut at = thread.at.as_ref().map_or(String::new(), place_words);
            if !thread.state.is_empty() {
                at = format!("{at}, {}", thread.state);
            }
            Thread { selected: thread.id == self.current, id: thread.id, name: thread.name, at }
        });
        told.collect()
    }

    pub(crate) fn go_to_thread(&mut self, id: u32) -> Done {
        if !self.list_threads().iter().any(|thread| thread.id == id) {
            return Err(Trouble::Request(format!("there is no thread {id}; see `info threads`")));
        }
        (self.current, self.frame) = (id, 0);
        Ok(())
    }

    fn needs_locals(&self) -> Done {
        match self.facts.locals {
            true => Ok(()),
            false => Err(Trouble::Request(
                "local variables can be seen only in a program that was started with `invigil run`"
                    .to_owned(),
            )),
        }
    }

    pub(crate) fn list_locals(&mut self) -> Done<Vec<Variable>> {
        self.needs_locals()?;
        self.stand()?;
        let request = Request::Locals { thread: self.current, depth: self.frame as u32 };
        match self.ask(&request)? {
            Answer::Pairs { pairs } => Ok(variables(pairs)),
            _ => strange(),
        }
    }

    pub(crate) fn value_of(&mut self, text: &str) -> Done<String> {
        self.stand()?;
        let request =
            Request::Print { thread: self.current, depth: self.frame as u32, text: text.to_owned() };
        self.words(&request)
    }

    pub(crate) fn type_words(&mut self, text: &str) -> Done<String> {
        self.stand()?;
        let request =
            Request::TypeOf { thread: self.current, depth: self.frame as u32, text: text.to_owned() };
        self.words(&request)
    }

    fn words(&mut self, request: &Request) -> Done<String> {
        match self.ask(request)? {
            Answer::Words { words } => Ok(words),
            _ => strange(),
        }
    }

    pub(crate) fn change(&mut self, place: &str, value: &str) -> Done {
        self.stand()?;
        let request = Request::Assign {
            thread: self.current,
            depth: self.frame as u32,
            place: place.to_owned(),
            value: value.to_owned(),
        };
        self.ask(&request).map(drop)
    }

    pub(crate) fn find_line(&mut self, place: Option<&str>) -> Done<Option<Line>> {
        let Some(name) = place else {
            let depth = self.frame;
            let frame = self.current_frames(depth + 1)?.into_iter().nth(depth);
            return Ok(frame.and_then(|frame| self.line_of(&frame.spot)));
        };
        if let Ok(line) = name.trim().parse() {
            let here = self.find_line(None)?;
            return Ok(here.map(|here| Line { line, ..here }));
        }
        match self.ask(&Request::Find { name: name.to_owned() })? {
            Answer::Spots { spots } => Ok(spots.first().and_then(|spot| self.line_of(spot))),
            _ => strange(),
        }
    }

    pub(crate) fn method_names(&mut self, prefix: &str) -> Vec<String> {
        match self.ask(&Request::Methods { prefix: prefix.to_owned() }) {
            Ok(Answer::Names { names }) => names,
            _ => Vec::new(),
        }
    }

    pub(crate) fn all_facts(&mut self) -> Vec<(String, String)> {
        let yes = |allowed: bool| if allowed { "yes" } else { "no" };
        let told = &self.facts;
        let mut facts = vec![
            ("process".to_owned(), self.number().to_string()),
            ("virtual machine".to_owned(), told.machine.clone()),
            ("class path".to_owned(), told.class_path.clone()),
            ("local variables".to_owned(), yes(told.locals).to_owned()),
            ("points at lines".to_owned(), yes(told.breakpoints).to_owned()),
            ("steps".to_owned(), yes(told.steps).to_owned()),
            ("another debugger".to_owned(), yes(told.debugger).to_owned()),
        ];
        if let Some(ending) = &self.ended {
            facts.push(("ended".to_owned(), ending.to_string()));
        }
        if let Ok(Answer::Pairs { pairs }) = self.ask(&Request::Tally) {
            facts.extend(pairs);
        }
        facts
    }
}
