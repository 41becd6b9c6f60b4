//! A Java program as a [`Subject`].

use crate::target::{Interrupt, Target};
use invigil_monitor::event::{Batch, Catalog, EventSet, SymbolId};
use invigil_monitor::inside::Inmate;
use invigil_monitor::mac::{Call, Plan, Remembered};
use invigil_monitor::slices::Gone;
use invigil_session::subject::{
    CaughtUp, Checkpoint, CheckpointId, Done, Frame, Interrupter, Line, Owner, Point, PointId, PointSpec,
    Resume, ScriptsStep, Stop, Subject, Thread, Trouble, Unknown, Variable,
};

/// Why there are no checkpoints.
const NO_CHECKPOINTS: &str = "a Java program cannot be kept as it is: its virtual machine has threads and a collector \
    that no copy of the process would have; record the events with `--record`, or run the program again with `run`";

fn no_checkpoints<T>() -> Done<T> {
    Err(Trouble::Request(NO_CHECKPOINTS.to_owned()))
}

impl Subject for Target {
    fn is_alive(&self) -> bool {
        self.ended.is_none()
    }

    fn prepare(&mut self, catalog: &Catalog) -> Done<Vec<Unknown>> {
        self.plan(catalog)
    }

    fn instrument(&mut self, needs: &EventSet) -> Done {
        self.activate(needs)
    }

    fn resume(&mut self, how: &Resume) -> Done<Stop> {
        self.resume_as(how)
    }

    fn hold(&mut self) -> Done {
        self.suspend()
    }

    fn events(&self) -> &Batch {
        &self.batch
    }

    fn steps_inside(&self) -> bool {
        self.link.is_some()
    }

    fn put_inside(&mut self, monitors: &[Inmate], _: &[Remembered]) -> Done {
        self.move_in(monitors)
    }

    fn take_scripts(&mut self, scripts: &[Plan]) -> ScriptsStep {
        self.set_scripts(scripts.to_vec());
        ScriptsStep::Inside
    }

    fn prepare_calls(&mut self, calls: &[(SymbolId, Call)]) -> Done<Vec<Unknown>> {
        self.plan_calls(calls)
    }

    fn invoke(&mut self, call: usize) -> Done {
        self.call(call)
    }

    fn complaints(&mut self) -> Vec<String> {
        std::mem::take(&mut self.complaints)
    }

    fn catch_up(&mut self) -> Done<Option<CaughtUp>> {
        self.take_past()
    }

    fn take_gone(&mut self) -> Gone {
        std::mem::take(&mut self.gone)
    }

    fn current_thread(&self) -> u32 {
        self.current
    }

    fn interrupter(&self) -> Box<dyn Interrupter> {
        Box::new(Interrupt(self.bell.clone()))
    }

    fn kill(&mut self) -> Done {
        self.kill_it()
    }

    fn detach(&mut self) -> Done {
        self.let_go()
    }

    fn set_point(&mut self, owner: Owner, spec: &PointSpec) -> Done<PointId> {
        self.add_point(owner, spec)
    }

    fn remove_point(&mut self, id: PointId) -> Done {
        self.drop_point(id)
    }

    fn enable_point(&mut self, id: PointId, enabled: bool) -> Done {
        self.switch_point(id, enabled)
    }

    fn points(&mut self) -> Vec<Point> {
        self.list_points()
    }

    fn threads(&mut self) -> Vec<Thread> {
        self.list_threads()
    }

    fn select_thread(&mut self, id: u32) -> Done {
        self.go_to_thread(id)
    }

    fn frames(&mut self, limit: usize) -> Done<Vec<Frame>> {
        self.shown_frames(limit)
    }

    fn select_frame(&mut self, depth: usize) -> Done {
        self.go_to_frame(depth)
    }

    fn selected_frame(&self) -> usize {
        self.frame
    }

    fn locals(&mut self) -> Done<Vec<Variable>> {
        self.list_locals()
    }

    fn print(&mut self, expression: &str) -> Done<String> {
        self.value_of(expression)
    }

    fn type_of(&mut self, expression: &str) -> Done<String> {
        self.type_words(expression)
    }

    fn assign(&mut self, place: &str, value: &str) -> Done {
        self.change(place, value)
    }

    fn examine(&mut self, _: &str, _: usize, _: char, _: usize) -> Done<Vec<String>> {
        Err(Trouble::Request(
            "the memory of a Java program has no addresses; `print` shows objects".to_owned(),
        ))
    }

    fn registers(&mut self) -> Done<Vec<Variable>> {
        Err(Trouble::Request("a Java program has no registers; see `info locals`".to_owned()))
    }

    fn line(&mut self, place: Option<&str>) -> Done<Option<Line>> {
        self.find_line(place)
    }

    fn functions(&mut self, prefix: &str) -> Vec<String> {
        self.method_names(prefix)
    }

    fn facts(&mut self) -> Vec<(String, String)> {
        self.all_facts()
    }

    fn no_checkpoints(&self) -> Option<&'static str> {
        Some(NO_CHECKPOINTS)
    }

    fn checkpoint(&mut self) -> Done<Checkpoint> {
        no_checkpoints()
    }

    fn restore(&mut self, _: CheckpointId) -> Done {
        no_checkpoints()
    }

    fn forget(&mut self, _: CheckpointId) -> Done {
        no_checkpoints()
    }

    fn checkpoints(&mut self) -> Vec<Checkpoint> {
        Vec::new()
    }
}
