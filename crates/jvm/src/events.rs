//! Events of the catalog: announcing them to the agent, and building them from its notifications.

use crate::classpath::ClassPath;
use crate::subscriptions;
use crate::target::JavaTarget;
use invigil_expr::value::Value;
use invigil_jvm_agent::protocol::{
    Answer, Request, Subscription, SubscriptionId, Trigger, ValueRequest, WireValue,
};
use invigil_jvm_agent::values::value;
use invigil_monitor::event::{EventCatalog, EventDecl, EventId, EventMeta, EventSet, Param, ParamSource};
use invigil_monitor::predefined_event::PredefinedEvent;
use invigil_target::{StopReason, TargetResult, Termination, UnresolvedEvent};
use std::path::Path;

/// An event of the catalog.
pub(crate) struct EventPlan {
    event: EventId,
    name: String,
    params: Vec<Param>,
    active: bool,
}

impl JavaTarget {
    /// Announces the events of the catalog to the agent.
    pub(crate) fn plan(&mut self, catalog: &EventCatalog) -> TargetResult<Vec<UnresolvedEvent>> {
        let plan = |(event, decl): (EventId, &EventDecl)| EventPlan {
            event,
            name: decl.name.clone(),
            params: decl.params.clone(),
            active: false,
        };
        self.plans = catalog.iter().map(plan).collect();
        let (subscriptions, mut unknown) = subscriptions::subscriptions(catalog, self.class_path());
        if let Answer::Errors { errors } = self.request(&Request::Prepare { subscriptions })? {
            for error in errors {
                let SubscriptionId::Event { number } = error.id else { continue };
                // If a similar name is on the class path, the name is most likely misspelled.
                let meant = if error.pending { self.suggestion(number) } else { None };
                let pending = error.pending && (self.expects_classes || meant.is_none());
                let help = meant.unwrap_or(error.help);
                unknown.push(UnresolvedEvent {
                    event: EventId(number),
                    param: error.value_request.map(|index| index as usize),
                    reason: error.reason,
                    help,
                    pending,
                });
            }
        }
        if std::mem::take(&mut self.stop_when_prepared) {
            self.suspend_all()?;
        }
        Ok(unknown)
    }

    /// A subscription, with the classes that its name may mean.
    pub(crate) fn subscription(
        &mut self,
        id: SubscriptionId,
        trigger: Trigger,
        name: &str,
        value_requests: Vec<ValueRequest>,
    ) -> Subscription {
        subscriptions::subscription(self.class_path(), id, trigger, name, value_requests)
    }

    pub(crate) fn class_path(&mut self) -> &ClassPath {
        let info = &self.info;
        self.classes.get_or_insert_with(|| ClassPath::new(&info.class_path, Path::new(&info.directory)))
    }

    /// The name that may have been meant by one that no class has.
    fn suggestion(&mut self, event: u32) -> Option<String> {
        let name = self.plans.iter().find(|plan| plan.event.0 == event)?.name.clone();
        subscriptions::suggestion(self.class_path(), &name)
    }

    pub(crate) fn activate(&mut self, needs: &EventSet) -> TargetResult {
        for plan in &mut self.plans {
            plan.active = needs.contains(plan.event);
        }
        self.host.observes_all = false;
        self.activate_events(false)?;
        self.start_ticks()
    }

    /// Makes the agent report the events that are needed now, or all of them: embedded monitors may need others after
    /// each event.
    pub(crate) fn activate_events(&mut self, all: bool) -> TargetResult {
        let needed = self.plans.iter().filter(|plan| all || plan.active);
        let events = needed.map(|plan| plan.event.0).collect();
        self.request(&Request::Activate { events })?;
        Ok(())
    }

    /// Fills the batch with the events of the site at which a thread is stopped.
    pub(crate) fn make_events(&mut self) -> Option<StopReason> {
        self.batch.clear();
        let waiting = self.stopped_thread.as_ref()?;
        let stamp = EventMeta { time: waiting.time, line: 0 };
        let events = waiting.notifications.iter().filter_map(|notification| match notification.id {
            SubscriptionId::Event { number } => Some((number, notification.values.as_slice())),
            SubscriptionId::Breakpoint { .. } => None,
        });
        // The events of a site occur in the order of the catalog.
        let mut events: Vec<(u32, &[WireValue])> = events.collect();
        events.sort_by_key(|(number, _)| *number);
        for (number, values) in events {
            // Embedded monitors have already selected the events.
            let active = self.host.monitors_step_in_agent
                || self.plans.iter().any(|plan| plan.event.0 == number && plan.active);
            if active {
                let values: Vec<Value> =
                    values.iter().map(|wire_value| value(wire_value, &mut self.batch)).collect();
                self.batch.push(EventId(number), &values, stamp);
            }
        }
        (!self.batch.is_empty()).then_some(StopReason::Events)
    }

    /// Fills the batch with the event of the program's end. Returns whether a monitor needs it.
    pub(crate) fn make_end_event(&mut self, ending: &Termination) -> bool {
        self.batch.clear();
        let status = match ending {
            Termination::Exited(status) => Value::int((*status).into()),
            _ => Value::UNSET,
        };
        // Embedded monitors may need it since they were embedded.
        let wanted = |plan: &&EventPlan| {
            (plan.active || self.host.monitors_step_in_agent)
                && PredefinedEvent::from_name(&plan.name) == Some(PredefinedEvent::Exit)
        };
        for plan in self.plans.iter().filter(wanted) {
            let values = plan.params.iter().map(|param| match &param.source {
                ParamSource::Name(name) if name == "status" => status,
                _ => Value::UNSET,
            });
            let values: Vec<Value> = values.collect();
            self.batch.push(plan.event, &values, EventMeta { time: f64::NAN, line: 0 });
        }
        !self.batch.is_empty()
    }
}
