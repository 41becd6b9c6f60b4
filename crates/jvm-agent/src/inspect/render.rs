//! Rendering values as text.

use crate::agent::Agent;
use crate::evaluate::{EmptyScope, Evaluator};
use crate::names;
use crate::on_probe::is_instance;
use crate::vm::{Jni, Primitive, Receiver, Ref};

/// How much of a value is shown.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    /// Number of levels of fields.
    depth: u32,
    elements: usize,
    text: usize,
}

impl Style {
    /// Enough to recognise a value.
    pub(crate) const BRIEF: Style = Style { depth: 0, elements: 8, text: 80 };
    /// Enough to see its contents.
    pub(crate) const WHOLE: Style = Style { depth: 2, elements: 100, text: 10_000 };

    fn inner(self) -> Style {
        Style { depth: self.depth - 1, elements: 16.min(self.elements), text: 200.min(self.text) }
    }
}

/// A value as text.
pub(crate) fn render(agent: &Agent, jni: Jni, value: Primitive, style: Style) -> String {
    match value {
        Primitive::Bool(value) => value.to_string(),
        Primitive::Byte(value) => value.to_string(),
        Primitive::Char(unit) => format!("{:?}", char::from_u32(unit.into()).unwrap_or('\u{fffd}')),
        Primitive::Short(value) => value.to_string(),
        Primitive::Int(value) => value.to_string(),
        Primitive::Long(value) => value.to_string(),
        Primitive::Float(value) => format!("{value:?}"),
        Primitive::Double(value) => format!("{value:?}"),
        Primitive::Object(None) => "null".to_owned(),
        Primitive::Object(Some(object)) => jni.framed(|| render_object(agent, jni, object, style)),
    }
}

fn render_object(agent: &Agent, jni: Jni, object: Ref, style: Style) -> String {
    let class = jni.class_of(object);
    let signature = agent.ti.signature(class).unwrap_or_default();
    let type_name = names::type_name(&signature);
    if signature == "Ljava/lang/String;" {
        let (text, more) = jni.text(object, style.text);
        return format!("{text:?}{}", if more { "..." } else { "" });
    }
    if let Some(element) = signature.strip_prefix('[') {
        let length = jni.length(object);
        let head = format!("{}[{length}]", names::type_name(element));
        if style.depth == 0 && matches!(element.as_bytes().first(), Some(b'L' | b'[')) {
            return head;
        }
        let inner = if style.depth == 0 { style } else { style.inner() };
        let shown = (0..length.min(style.elements))
            .map(|at| render(agent, jni, jni.element(object, at, element), inner));
        let mut shown: Vec<String> = shown.collect();
        if length > style.elements {
            shown.push("...".to_owned());
        }
        return format!("{head} {{{}}}", shown.join(", "));
    }
    let evaluator = Evaluator { ti: agent.ti, jni, scope: &EmptyScope };
    let unboxed = evaluator.unboxed(Primitive::Object(Some(object)));
    if !matches!(unboxed, Primitive::Object(_)) {
        return render(agent, jni, unboxed, style);
    }
    if is_instance(agent.ti, jni, class, "java.lang.Enum")
        && let Some(Primitive::Object(Some(name))) =
            evaluator.field(Some(object), class, "name").map(|found| found.value)
    {
        return format!("{type_name}.{}", jni.text(name, style.text).0);
    }
    let head = format!("{type_name}@{}", agent.object_ids.number(agent.ti, object));
    if style.depth == 0 {
        return head;
    }
    let fields = fields(agent, jni, object, style.inner());
    if fields.is_empty() { head } else { format!("{head} {{{}}}", fields.join(", ")) }
}

/// The fields of an object with their values, those of the topmost class first.
fn fields(agent: &Agent, jni: Jni, object: Ref, style: Style) -> Vec<String> {
    let mut levels = Vec::new();
    let mut class = Some(jni.class_of(object));
    while let Some(at) = class {
        let mut level = Vec::new();
        for field in agent.ti.fields(at).unwrap_or_default() {
            if let Ok((name, signature, false)) = agent.ti.field(at, field) {
                let value = jni.get(Receiver::Of(object), field, &signature);
                level.push(format!("{name} = {}", render(agent, jni, value, style)));
            }
        }
        levels.push(level);
        class = jni.superclass(at);
    }
    levels.into_iter().rev().flatten().collect()
}
