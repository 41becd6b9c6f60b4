//! Weaving classes that are not loaded: for programs that are instrumented on disk.

use crate::hook::{self, Weaving};
use crate::marks::{Mark, Marks};
use crate::prepare;
use crate::protocol::{Problem, Want};
use crate::want::Wanted;
use invigil_weave::{Class, Woven};
use std::collections::HashMap;
use std::sync::Arc;

/// Weaves classes for what is wanted of them. They call a helper class that only the agent brings along.
pub struct Instrumentor {
    wants: Vec<Arc<Wanted>>,
    classes: Vec<(String, Vec<Mark>)>,
    next: u32,
}

impl Instrumentor {
    /// `read` gives what a class file says, by the name of the class as in `app/Queue`. The problems are those that can be
    /// known from it.
    pub fn new(wants: Vec<Want>, read: &dyn Fn(&str) -> Option<Class>) -> (Instrumentor, Vec<Problem>) {
        let (mut all, mut problems, mut paths) = (Vec::new(), Vec::new(), HashMap::new());
        for want in wants {
            match Wanted::new(want, false) {
                Ok(wanted) => all.push(Arc::new(prepare::shared(wanted, &mut paths))),
                Err(problem) => problems.push(problem),
            }
        }
        for wanted in &all {
            prepare::look_up(read, wanted, &|wanted, class| {
                hook::noted(wanted, class);
            });
            problems.extend(prepare::judged(wanted));
        }
        (Instrumentor { wants: all, classes: Vec::new(), next: 0 }, problems)
    }

    /// The class with probes, if something of it is wanted.
    ///
    /// # Errors
    /// If it is no class file that can be used.
    pub fn weave(&mut self, bytes: &[u8]) -> Result<Option<Woven>, invigil_weave::Problem> {
        let class = Class::read(bytes)?;
        let wants: Vec<Arc<Wanted>> =
            self.wants.iter().filter(|wanted| wanted.may_concern(&class.name, bytes)).cloned().collect();
        if wants.is_empty() {
            return Ok(None);
        }
        let (mut marks, mut next) = (Vec::new(), self.next);
        let mut add = |site: &invigil_weave::Site<'_>, place: crate::place::Place| {
            let number = next;
            next = next.checked_add(1)?;
            marks.push(Mark::new(number, site, &place));
            Some(number)
        };
        let woven = invigil_weave::weave(
            bytes,
            crate::agent::HELPER,
            &mut Weaving { class: &class, wants: &wants, add: &mut add },
        )?;
        if woven.is_some() {
            self.next = next;
            self.classes.push((class.name, marks));
        }
        Ok(woven)
    }

    /// What must lie beside the classes: see [`crate::marks::FILE`].
    pub fn marks(self) -> Marks {
        Marks::new(self.classes)
    }
}
