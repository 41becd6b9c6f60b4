//! A native program as a [`Subject`].

use crate::target::Target;
use invigil_monitor::event::{Batch, Catalog, EventSet};
use invigil_monitor::inside::Inmate;
use invigil_monitor::mac::{Plan, Remembered};
use invigil_session::subject::{
    CaughtUp, Checkpoint, CheckpointId, Done, Frame, Interrupter, Line, Owner, Point, PointId, PointSpec,
    Probe, Resume, ScriptsStep, Stop, Subject, Thread, Unknown, Variable,
};

impl Subject for Target {
    fn is_alive(&self) -> bool {
        !self.is_over()
    }

    fn prepare(&mut self, catalog: &Catalog) -> Done<Vec<Unknown>> {
        self.move_library_in();
        self.plan(catalog)
    }

    fn steps_inside(&self) -> bool {
        self.can_step_inside() && self.is_worth_stepping_inside()
    }

    fn put_inside(&mut self, monitors: &[Inmate], scripts: &[Remembered]) -> Done {
        self.put_monitors_inside(monitors, scripts)
    }

    fn take_scripts(&mut self, scripts: &[Plan]) -> ScriptsStep {
        self.inline.set_scripts(scripts.to_vec());
        ScriptsStep::WithMonitors
    }

    fn catch_up(&mut self) -> Done<Option<CaughtUp>> {
        self.catch_up_inside()
    }

    fn instrument(&mut self, needs: &EventSet) -> Done {
        Target::instrument(self, needs)
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

    fn current_thread(&self) -> u32 {
        self.current as u32
    }

    fn interrupter(&self) -> Box<dyn Interrupter> {
        Box::new(Target::interrupter(self))
    }

    fn kill(&mut self) -> Done {
        Target::kill(self)
    }

    fn detach(&mut self) -> Done {
        Target::detach(self)
    }

    fn set_point(&mut self, owner: Owner, spec: &PointSpec) -> Done<PointId> {
        Target::set_point(self, owner, spec)
    }

    fn remove_point(&mut self, id: PointId) -> Done {
        Target::remove_point(self, id)
    }

    fn enable_point(&mut self, id: PointId, enabled: bool) -> Done {
        Target::enable_point(self, id, enabled)
    }

    fn points(&mut self) -> Vec<Point> {
        self.list_points()
    }

    fn threads(&mut self) -> Vec<Thread> {
        Target::threads(self)
    }

    fn select_thread(&mut self, id: u32) -> Done {
        Target::select_thread(self, id)
    }

    fn frames(&mut self, limit: usize) -> Done<Vec<Frame>> {
        Target::frames(self, limit)
    }

    fn place(&mut self) -> String {
        Target::place(self)
    }

    fn select_frame(&mut self, depth: usize) -> Done {
        Target::select_frame(self, depth)
    }

    fn selected_frame(&self) -> usize {
        self.frame
    }

    fn locals(&mut self) -> Done<Vec<Variable>> {
        Target::locals(self)
    }

    fn print(&mut self, expression: &str) -> Done<String> {
        Target::print(self, expression)
    }

    fn type_of(&mut self, expression: &str) -> Done<String> {
        Target::type_of(self, expression)
    }

    fn assign(&mut self, place: &str, value: &str) -> Done {
        Target::assign(self, place, value)
    }

    fn examine(&mut self, expression: &str, count: usize, format: char, size: usize) -> Done<Vec<String>> {
        Target::examine(self, expression, count, format, size)
    }

    fn registers(&mut self) -> Done<Vec<Variable>> {
        Target::registers(self)
    }

    fn line(&mut self, place: Option<&str>) -> Done<Option<Line>> {
        Target::line(self, place)
    }

    fn functions(&mut self, prefix: &str) -> Vec<String> {
        self.program.names_with_prefix(prefix, 200)
    }

    fn probes(&mut self) -> Vec<Probe> {
        self.list_probes()
    }

    fn facts(&mut self) -> Vec<(String, String)> {
        Target::facts(self)
    }

    fn checkpoint(&mut self) -> Done<Checkpoint> {
        self.take_checkpoint()
    }

    fn restore(&mut self, id: CheckpointId) -> Done {
        self.bring_back(id)
    }

    fn forget(&mut self, id: CheckpointId) -> Done {
        self.drop_checkpoint(id)
    }

    fn checkpoints(&mut self) -> Vec<Checkpoint> {
        self.list_checkpoints()
    }
}
