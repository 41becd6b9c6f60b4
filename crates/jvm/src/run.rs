//! Running until there is something to tell, and telling it to whom it concerns, one after the other.

use crate::link::Came;
use crate::points::UNTIL;
use crate::target::{Target, Waiting};
use invigil_jvm_agent::protocol::{Answer, Key, NOT_BEGUN, News, Occurred, Order, Past, Request, Step};
use invigil_session::due::Owners;
use invigil_session::subject::{Done, Owner, PointId, Resume, Stop, Trouble};

impl Target {
    pub(crate) fn resume_as(&mut self, how: &Resume) -> Done<Stop> {
        if let Some(stop) = self.told_end()? {
            return Ok(stop);
        }
        if let Some(stop) = self.serve()? {
            return Ok(stop);
        }
        if !self.stepping {
            self.begin_step(how)?;
        }
        if let Err(trouble) = self.go_on() {
            return self.or_end(trouble);
        }
        loop {
            let Some(link) = &mut self.link else { return Err(self.over()) };
            let stop = match link.wait(&self.bell) {
                Came::News(news) => self.heard(news)?,
                Came::Bell => {
                    self.hold_all()?;
                    self.choose_thread();
                    self.end_step()?;
                    Some(Stop::Interrupted)
                }
                Came::Lost(lost) => {
                    let trouble = self.lost(&lost);
                    return self.or_end(trouble);
                }
            };
            if let Some(stop) = stop {
                return Ok(stop);
            }
        }
    }

    /// The end of the program is no trouble when it runs.
    fn or_end(&mut self, trouble: Trouble) -> Done<Stop> {
        match (trouble, self.told_end()?) {
            (Trouble::Ended(_), Some(stop)) => Ok(stop),
            (trouble, _) => Err(trouble),
        }
    }

    /// After the end: the event of it first, if a monitor wants to know.
    fn told_end(&mut self) -> Done<Option<Stop>> {
        let Some(ending) = self.ended.clone() else { return Ok(None) };
        if let Some(at) = self.complaints.iter().position(|words| words == NOT_BEGUN) {
            self.complaints.remove(at);
            return Err(Trouble::Subject(format!(
                "Java ended before the program began: {NOT_BEGUN}, and {ending}; what it printed says why"
            )));
        }
        if self.note_due() {
            return Ok(Some(Stop::Events));
        }
        if std::mem::take(&mut self.end_is_news) && self.note_end(&ending) {
            return Ok(Some(Stop::Events));
        }
        Ok(Some(Stop::Ended(ending)))
    }

    /// Lets the program go on where it stands.
    fn go_on(&mut self) -> Done {
        self.open_rooms()?;
        self.release_all()?;
        if self.waiting.take().is_some()
            && let Some(link) = &mut self.link
            && let Err(lost) = link.order(&Order::Go)
        {
            return Err(self.lost(&lost));
        }
        Ok(())
    }

    fn heard(&mut self, news: News) -> Done<Option<Stop>> {
        match news {
            News::Ready => Ok(None),
            News::Exits { status, past, due, complaints } => {
                self.exits(status, past, due, complaints);
                Ok(None)
            }
            News::Stepped { thread, returned } => {
                self.stands(thread);
                self.waiting = Some(Waiting { hits: Vec::new(), time: 0.0, handled: Owners::default() });
                self.stepping = false;
                self.remove_until()?;
                self.hold_all()?;
                Ok(Some(Stop::Stepped { returned }))
            }
            News::Hits { thread, time, hits, gone } => {
                self.note_gone(gone);
                self.stands(thread);
                self.waiting = Some(Waiting { hits, time, handled: Owners::default() });
                if let Some(stop) = self.serve()? {
                    return Ok(Some(stop));
                }
                self.go_on()?;
                Ok(None)
            }
        }
    }

    /// The program said that it exits.
    pub(crate) fn exits(
        &mut self,
        status: i32,
        past: Option<Past>,
        due: Vec<Occurred>,
        complaints: Vec<String>,
    ) {
        self.status = Some(status);
        (self.rooms.last, self.rooms.due) = (past, due);
        self.complaints = complaints;
    }

    fn stands(&mut self, thread: u32) {
        self.current = thread;
        self.frame = 0;
    }

    /// Tells who has something due where a thread waits, one owner at a time.
    fn serve(&mut self) -> Done<Option<Stop>> {
        loop {
            let Some(waiting) = &self.waiting else { return Ok(None) };
            let mut present = Owners::default();
            for hit in &waiting.hits {
                let owner = match hit.key {
                    Key::Event { .. } => Some(Owner::Monitors),
                    Key::Point { number: UNTIL } => Some(Owner::Developer),
                    Key::Point { number } => self.points.owner(PointId(number)),
                };
                present = owner.map_or(present, |owner| present.with(owner));
            }
            let Some(owner) = present.next(waiting.handled) else { return Ok(None) };
            if let Some(waiting) = &mut self.waiting {
                waiting.handled = waiting.handled.with(owner);
            }
            let stop = match owner {
                Owner::Monitors => self.make_events(),
                owner => self.points_hit(owner)?,
            };
            match stop {
                Some(stop @ (Stop::Points { owner: Owner::Developer, .. } | Stop::Stepped { .. })) => {
                    self.end_step()?;
                    self.hold_all()?;
                    return Ok(Some(stop));
                }
                Some(stop) => return Ok(Some(stop)),
                None => {}
            }
        }
    }

    /// Asks for a step, if one is to be made.
    fn begin_step(&mut self, how: &Resume) -> Done {
        let (step, depth) = match how {
            Resume::Continue => return Ok(()),
            Resume::Instruction => (Step::Instruction, 0),
            Resume::Line => (Step::Line, 0),
            Resume::NextLine => (Step::NextLine, 0),
            Resume::Finish => (Step::Finish, self.frame),
            Resume::Until(place) => {
                self.hold_all()?;
                self.set_until(place)?;
                (Step::Finish, self.frame)
            }
        };
        self.hold_all()?;
        if self.current_frames(1)?.is_empty() {
            return Err(Trouble::Request(
                "the program has not begun: set a point, as in `break Main.main`, and `continue`".to_owned(),
            ));
        }
        self.ask(&Request::Step { thread: self.current, depth: depth as u32, how: step })?;
        self.stepping = true;
        Ok(())
    }

    /// Gives a step up.
    pub(crate) fn end_step(&mut self) -> Done {
        if std::mem::take(&mut self.stepping) {
            self.ask(&Request::Unstep)?;
        }
        self.remove_until()
    }

    /// Makes the program stand still for the developer.
    pub(crate) fn suspend(&mut self) -> Done {
        if self.ended.is_some() {
            return Ok(());
        }
        self.end_step()?;
        if self.facts.debugger
            && self.waiting.as_ref().is_some_and(|waiting| waiting.handled.has(Owner::Monitors))
            && let Some(link) = &mut self.link
        {
            // Debuggers that wait in the helper's method for this get to know.
            let property = "a property is violated, or a scenario suspends the program".to_owned();
            if let Err(lost) = link.order(&Order::Violated { property }) {
                return Err(self.lost(&lost));
            }
        }
        self.hold_all()
    }

    /// A thread to look at, when none came to a place by itself.
    fn choose_thread(&mut self) {
        self.frame = 0;
        if self.waiting.is_some() {
            return;
        }
        let Ok(Answer::Threads { threads }) = self.ask(&Request::Threads) else { return };
        let known = threads.iter().any(|thread| thread.id == self.current && thread.at.is_some());
        if !known {
            let with_frames = threads.iter().find(|thread| thread.at.is_some());
            self.current = with_frames.or(threads.first()).map_or(self.current, |thread| thread.id);
        }
    }
}
