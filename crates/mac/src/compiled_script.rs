//! Output of the static phase: compiled scripts for the stages, and instrumentation plans.
//!
//! A compiled script contains the script itself, from which a recogniser or a checker is created, and everything else
//! that was known at compile time: constants of the program and the exports of the other script.

use crate::text::{parse_as, write_value};
use invigil_expr::diag::{Diagnostic, SourceId, Span};
use invigil_lang::pedl::ast::{ExportKind, Literal};
use invigil_lang::pedl::{EntityId, MonitoringScript, ScriptExport};
use invigil_lang::{medl, pedl};
use invigil_monitor::mac::{Abstraction, Constant, NotAbstracted, Type};
use serde_json::{Map, Value, json};

/// The stage that a compiled script is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptKind {
    /// A recogniser: the script is in PEDL.
    Recogniser,
    /// A checker: the script is in MEDL.
    Checker,
}

impl ScriptKind {
    fn word(self) -> &'static str {
        match self {
            ScriptKind::Recogniser => "invigil recogniser",
            ScriptKind::Checker => "invigil checker",
        }
    }
}

/// The version of the file format.
const VERSION: u64 = 1;

/// A script compiled by the static phase.
#[derive(Clone, Debug, PartialEq)]
pub struct CompiledScript {
    /// The stage.
    pub kind: ScriptKind,
    /// The name of the script's file, for messages.
    pub name: String,
    /// The text of the script.
    pub script: String,
    /// The constants of the program that the script reads.
    pub constants: Vec<(String, Literal)>,
    /// The exports of the other script, if known.
    pub exports: Option<Vec<ScriptExport>>,
}

impl CompiledScript {
    /// The contents of the file, a JSON document.
    pub fn to_json(&self) -> String {
        let constants = self.constants.iter().filter_map(|(name, value)| {
            let mut text = String::new();
            write_value(&mut text, value.value());
            Some(json!({ "name": name, "type": value.value().ty()?.word(), "value": text }))
        });
        let document = json!({
            "format": self.kind.word(),
            "version": VERSION,
            "name": self.name,
            "constants": constants.collect::<Vec<_>>(),
            "exports": self.exports.as_deref().map(exports),
            "script": self.script.lines().collect::<Vec<_>>(),
        });
        pretty(&document)
    }

    /// Parses such a file. Returns `None` if the text is not a JSON object: it is probably a script.
    ///
    /// ```
    /// use invigil_mac::{CompiledScript, ScriptKind};
    /// let script = "MonScr\nEnd".to_owned();
    /// let kind = ScriptKind::Recogniser;
    /// let compiled = CompiledScript { kind, name: "a.pedl".into(), script, constants: vec![], exports: None };
    /// assert_eq!(CompiledScript::from_json(&compiled.to_json()), Ok(Some(compiled)));
    /// assert_eq!(CompiledScript::from_json("MonScr End"), Ok(None));
    /// ```
    pub fn from_json(text: &str) -> Result<Option<CompiledScript>, String> {
        if !text.trim_start().starts_with('{') {
            return Ok(None);
        }
        let document: Value =
            serde_json::from_str(text).map_err(|error| format!("not valid JSON: {error}"))?;
        let damaged = |key: &str| format!("`{key}` is missing or damaged; compile the script again");
        let text_of = |value: &Value, key: &str| {
            value.get(key).and_then(Value::as_str).map(str::to_owned).ok_or_else(|| damaged(key))
        };
        let format = text_of(&document, "format")?;
        let kinds = [ScriptKind::Recogniser, ScriptKind::Checker];
        let Some(kind) = kinds.into_iter().find(|kind| kind.word() == format) else {
            return Err(format!("this is `{format}`, neither a recogniser nor a checker"));
        };
        if document.get("version").and_then(Value::as_u64) != Some(VERSION) {
            return Err("it was compiled by another version of Invigil; compile the script again".to_owned());
        }
        let list = |key: &str| document.get(key).and_then(Value::as_array).ok_or_else(|| damaged(key));
        let lines = list("script")?.iter().map(Value::as_str).collect::<Option<Vec<_>>>();
        let script = lines.ok_or_else(|| damaged("script"))?.join("\n");
        let mut constants = Vec::new();
        for constant in list("constants")? {
            let ty = Type::from_word(&text_of(constant, "type")?).ok_or_else(|| damaged("type"))?;
            let value = literal(&text_of(constant, "value")?, ty).map_err(|_| damaged("value"))?;
            constants.push((text_of(constant, "name")?, value));
        }
        let exports = match document.get("exports") {
            None | Some(Value::Null) => None,
            Some(value) => Some(read_exports(value).ok_or_else(|| damaged("exports"))?),
        };
        Ok(Some(CompiledScript { kind, name: text_of(&document, "name")?, script, constants, exports }))
    }

    /// Compiles the recogniser of the script, with diagnostics.
    pub fn recogniser(&self, source: SourceId) -> (Option<MonitoringScript>, Vec<Diagnostic>) {
        let (script, mut diagnostics) = pedl::parse(source, &self.script);
        if diagnostics.iter().any(Diagnostic::is_error) {
            return (None, diagnostics);
        }
        let constant = |name: &str| {
            self.constants.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone())
        };
        let (lowered, found) = pedl::lower(&script, &constant);
        diagnostics.extend(found);
        (lowered, diagnostics)
    }

    /// Compiles the checker of the script, with diagnostics.
    pub fn checker(&self, source: SourceId) -> (Option<medl::RequirementScript>, Vec<Diagnostic>) {
        let (script, mut diagnostics) = medl::parse(source, &self.script);
        if diagnostics.iter().any(Diagnostic::is_error) {
            return (None, diagnostics);
        }
        let exporter = self.exports.clone().map(|exports| MonitoringScript {
            title: None,
            parts: invigil_monitor::mac::ScriptDef::default(),
            entities: Vec::new(),
            constants: Vec::new(),
            exports,
            options: pedl::ast::Options::default(),
        });
        let (lowered, found) = medl::lower(&script, exporter.as_ref());
        diagnostics.extend(found);
        (lowered, diagnostics)
    }
}

/// Parses a constant of a given type: `3`, `'x'`, `"text"`.
fn literal(text: &str, ty: Type) -> Result<Literal, String> {
    use invigil_monitor::mac::Value;
    Ok(match parse_as(text, ty)?.value() {
        Value::Undefined => Literal::Null,
        Value::Boolean(v) => Literal::Boolean(v),
        Value::Char(v) => Literal::Char(v),
        Value::Byte(v) => Literal::Int(v.into()),
        Value::Short(v) => Literal::Int(v.into()),
        Value::Int(v) => Literal::Int(v),
        Value::Long(v) => Literal::Long(v),
        Value::Float(v) => Literal::Float(v),
        Value::Double(v) => Literal::Double(v),
        Value::String(v) => Literal::String(v.to_owned()),
    })
}

/// Parses a constant and infers its type: integers are `int` if they fit, else `long`.
///
/// ```
/// use invigil_lang::pedl::ast::Literal;
/// assert_eq!(invigil_mac::parse_constant("3"), Ok(Literal::Int(3)));
/// assert_eq!(invigil_mac::parse_constant("-0.5"), Ok(Literal::Double(-0.5)));
/// assert_eq!(invigil_mac::parse_constant("\"up\""), Ok(Literal::String("up".into())));
/// ```
pub fn parse_constant(text: &str) -> Result<Literal, String> {
    let types = [Type::Boolean, Type::Int, Type::Long, Type::Double, Type::Char, Type::String];
    types
        .into_iter()
        .find_map(|ty| literal(text, ty).ok())
        .ok_or_else(|| format!("`{text}` is not a value; write 3, 0.5, true, 'c' or \"text\""))
}

fn exports(exports: &[ScriptExport]) -> Value {
    let all = exports.iter().map(|export| {
        let types = export.values.iter().flatten();
        let values: Vec<Option<&str>> = types.map(|ty| ty.map(Type::word)).collect();
        json!({ "sort": export.kind.word(), "name": export.name, "values": values })
    });
    all.collect()
}

fn read_exports(value: &Value) -> Option<Vec<ScriptExport>> {
    let export = |value: &Value| {
        let name = value.get("name")?.as_str()?.to_owned();
        let kind = match value.get("sort")?.as_str()? {
            "event" => ExportKind::Event,
            "condition" => ExportKind::Condition,
            _ => return None,
        };
        let ty = |value: &Value| match value {
            Value::Null => Some(None),
            value => Type::from_word(value.as_str()?).map(Some),
        };
        let values = value.get("values")?.as_array()?.iter().map(ty).collect::<Option<_>>()?;
        Some(ScriptExport { kind, name, values: Some(values), span: Span::default() })
    };
    value.as_array()?.iter().map(export).collect()
}

/// The instrumentation plan of a script as a JSON document: what must be done to a program so that the script can be
/// recognised.
///
/// `number` is the number in the published byte format, or null if the format has no number for the entity. With
/// `valueabstract`, `abstraction` specifies which values need not be sent: an assignment matters if it is the first one
/// or changes one of the `thresholds`. If the abstraction is off, every assignment matters, for the reason in `off`.
pub fn instrumentation_plan(script: &MonitoringScript) -> String {
    let abstractions = script.parts.abstractions();
    let entities = script.entities.iter().enumerate().map(|(at, entity)| {
        let mut object = Map::new();
        let (kind, abstraction) = match entity.id {
            EntityId::Variable(variable) => ("variable", abstractions.get(variable.0 as usize)),
            EntityId::Method(_) => ("method", None),
        };
        object.insert("number".into(), json!(Some(at + 10).filter(|number| *number <= 127)));
        object.insert("kind".into(), kind.into());
        object.insert("name".into(), entity.path.to_string().into());
        object.insert("alias".into(), json!(entity.alias));
        object.insert("type".into(), json!(entity.ty.as_ref().map(ToString::to_string)));
        let scope = entity
            .scope
            .as_ref()
            .map(|scope| json!({ "not": scope.is_negated, "in": scope.path.to_string() }));
        object.insert("scope".into(), json!(scope));
        object.insert("constant".into(), entity.is_constant.into());
        let abstraction = abstraction.filter(|_| script.options.valueabstract.is_some());
        object.insert("abstraction".into(), json!(abstraction.map(abstraction_json)));
        Value::Object(object)
    });
    let options = &script.options;
    let document = json!({
        "format": "invigil instrumentation",
        "version": VERSION,
        "title": script.title,
        "timestamp": options.timestamp.as_ref().map(|timestamp| timestamp.milliseconds),
        "multithread": options.multithread.is_some(),
        "deltavalue": options.deltavalue.is_some(),
        "valueabstract": options.valueabstract.is_some(),
        "entities": entities.collect::<Vec<_>>(),
        "exports": exports(&script.exports),
    });
    pretty(&document)
}

fn abstraction_json(abstraction: &Abstraction) -> Value {
    match abstraction {
        Abstraction::Off(NotAbstracted::Update) => json!({ "off": "the script has `update` of it" }),
        Abstraction::Off(NotAbstracted::Computed) => json!({ "off": "the script computes with it" }),
        Abstraction::Thresholds(all) => {
            let thresholds = all.iter().map(|threshold| {
                let constant = match &threshold.constant {
                    Constant::Whole(value) => json!(value),
                    Constant::Floating(value) if value.is_finite() => json!(value),
                    Constant::Floating(value) => json!(value.to_string()),
                    Constant::Text(text) => json!(text),
                };
                let operator = threshold.operator.word();
                json!({ "operator": operator, "type": threshold.ty.word(), "against": constant })
            });
            json!({ "thresholds": thresholds.collect::<Vec<_>>() })
        }
    }
}

fn pretty(document: &Value) -> String {
    // Serializing plain data into memory cannot fail.
    serde_json::to_string_pretty(document).map_or(String::new(), |text| text + "\n")
}
