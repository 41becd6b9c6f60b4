//! What the static phase leaves behind: files that the stages load, and a plan for whoever instruments the program.
//!
//! A compiled script holds the script itself, which is what a recogniser or a checker is made from in no time, and all
//! that was known besides when it was compiled: constants of the program, and what the other script exports.

use crate::text::{of_type, plain};
use invigil_expr::diag::{Diagnostic, SourceId, Span};
use invigil_lang::pedl::ast::{Literal, Sort};
use invigil_lang::pedl::{Exported, Id, Lowered};
use invigil_lang::{medl, pedl};
use invigil_monitor::mac::{Abstraction, Because, Constant, Type};
use serde_json::{Map, Value, json};

/// What a compiled script is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// A recogniser: the script is in PEDL.
    Recogniser,
    /// A checker: the script is in MEDL.
    Checker,
}

impl Phase {
    fn word(self) -> &'static str {
        match self {
            Phase::Recogniser => "invigil recogniser",
            Phase::Checker => "invigil checker",
        }
    }
}

/// The version of the files.
const VERSION: u64 = 1;

/// A script as the static phase leaves it.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// What it is for.
    pub phase: Phase,
    /// The name of the script's file, for messages.
    pub name: String,
    /// The script.
    pub script: String,
    /// The constants of the program that it reads.
    pub constants: Vec<(String, Literal)>,
    /// What can be imported, if that was known.
    pub exports: Option<Vec<Exported>>,
}

impl Compiled {
    /// The file, as one JSON document.
    pub fn to_json(&self) -> String {
        let constants = self.constants.iter().filter_map(|(name, value)| {
            let mut text = String::new();
            plain(&mut text, value.value());
            Some(json!({ "name": name, "type": value.value().ty()?.word(), "value": text }))
        });
        let document = json!({
            "format": self.phase.word(),
            "version": VERSION,
            "name": self.name,
            "constants": constants.collect::<Vec<_>>(),
            "exports": self.exports.as_deref().map(exports),
            "script": self.script.lines().collect::<Vec<_>>(),
        });
        pretty(&document)
    }

    /// Reads such a file; nothing if it is none of these, but probably a script.
    ///
    /// ```
    /// use invigil_mac::{Compiled, Phase};
    /// let script = "MonScr\nEnd".to_owned();
    /// let phase = Phase::Recogniser;
    /// let compiled = Compiled { phase, name: "a.pedl".into(), script, constants: vec![], exports: None };
    /// assert_eq!(Compiled::from_json(&compiled.to_json()), Ok(Some(compiled)));
    /// assert_eq!(Compiled::from_json("MonScr End"), Ok(None));
    /// ```
    pub fn from_json(text: &str) -> Result<Option<Compiled>, String> {
        if !text.trim_start().starts_with('{') {
            return Ok(None);
        }
        let document: Value =
            serde_json::from_str(text).map_err(|error| format!("not valid JSON: {error}"))?;
        let damaged = |what: &str| format!("`{what}` is missing or damaged; compile the script again");
        let word = |value: &Value, key: &str| {
            value.get(key).and_then(Value::as_str).map(str::to_owned).ok_or_else(|| damaged(key))
        };
        let format = word(&document, "format")?;
        let phases = [Phase::Recogniser, Phase::Checker];
        let Some(phase) = phases.into_iter().find(|phase| phase.word() == format) else {
            return Err(format!("this is `{format}`, and neither a recogniser nor a checker"));
        };
        if document.get("version").and_then(Value::as_u64) != Some(VERSION) {
            return Err(
                "it was compiled by another version of this command; compile the script again".to_owned()
            );
        }
        let list = |key: &str| document.get(key).and_then(Value::as_array).ok_or_else(|| damaged(key));
        let lines = list("script")?.iter().map(Value::as_str).collect::<Option<Vec<_>>>();
        let script = lines.ok_or_else(|| damaged("script"))?.join("\n");
        let mut constants = Vec::new();
        for constant in list("constants")? {
            let ty = Type::from_word(&word(constant, "type")?).ok_or_else(|| damaged("type"))?;
            let value = literal(&word(constant, "value")?, ty).map_err(|_| damaged("value"))?;
            constants.push((word(constant, "name")?, value));
        }
        let exports = match document.get("exports") {
            None | Some(Value::Null) => None,
            Some(value) => Some(read_exports(value).ok_or_else(|| damaged("exports"))?),
        };
        Ok(Some(Compiled { phase, name: word(&document, "name")?, script, constants, exports }))
    }

    /// The recogniser that the script says, with what is wrong with it.
    pub fn recogniser(&self, source: SourceId) -> (Option<Lowered>, Vec<Diagnostic>) {
        let (script, mut problems) = pedl::parse(source, &self.script);
        if problems.iter().any(Diagnostic::is_error) {
            return (None, problems);
        }
        let known = |name: &str| {
            self.constants.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        };
        let (lowered, found) = pedl::lower(&script, &known);
        problems.extend(found);
        (lowered, problems)
    }

    /// The checker that the script says, with what is wrong with it.
    pub fn checker(&self, source: SourceId) -> (Option<medl::Lowered>, Vec<Diagnostic>) {
        let (script, mut problems) = medl::parse(source, &self.script);
        if problems.iter().any(Diagnostic::is_error) {
            return (None, problems);
        }
        let exporter = self.exports.clone().map(|exports| Lowered {
            title: None,
            parts: invigil_monitor::mac::Parts::default(),
            entities: Vec::new(),
            constants: Vec::new(),
            exports,
            options: pedl::ast::Options::default(),
        });
        let (lowered, found) = medl::lower(&script, exporter.as_ref());
        problems.extend(found);
        (lowered, problems)
    }
}

/// A constant of a program, from its text: `3`, `'x'`, `"text"`.
fn literal(text: &str, ty: Type) -> Result<Literal, String> {
    use invigil_monitor::mac::Value;
    Ok(match of_type(text, ty)?.value() {
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

/// A constant whose type its text says: whole numbers are `int` where they fit, others `long`.
///
/// ```
/// use invigil_lang::pedl::ast::Literal;
/// assert_eq!(invigil_mac::constant("3"), Ok(Literal::Int(3)));
/// assert_eq!(invigil_mac::constant("-0.5"), Ok(Literal::Double(-0.5)));
/// assert_eq!(invigil_mac::constant("\"up\""), Ok(Literal::String("up".into())));
/// ```
pub fn constant(text: &str) -> Result<Literal, String> {
    let types = [Type::Boolean, Type::Int, Type::Long, Type::Double, Type::Char, Type::String];
    types
        .into_iter()
        .find_map(|ty| literal(text, ty).ok())
        .ok_or_else(|| format!("`{text}` is no value: write 3, 0.5, true, 'c' or \"text\""))
}

fn exports(exports: &[Exported]) -> Value {
    let all = exports.iter().map(|one| {
        let types = one.values.iter().flatten();
        let values: Vec<Option<&str>> = types.map(|ty| ty.map(Type::word)).collect();
        json!({ "sort": one.sort.word(), "name": one.name, "values": values })
    });
    all.collect()
}

fn read_exports(value: &Value) -> Option<Vec<Exported>> {
    let one = |value: &Value| {
        let name = value.get("name")?.as_str()?.to_owned();
        let sort = match value.get("sort")?.as_str()? {
            "event" => Sort::Event,
            "condition" => Sort::Condition,
            _ => return None,
        };
        let ty = |value: &Value| match value {
            Value::Null => Some(None),
            value => Type::from_word(value.as_str()?).map(Some),
        };
        let values = value.get("values")?.as_array()?.iter().map(ty).collect::<Option<_>>()?;
        Some(Exported { sort, name, values: Some(values), span: Span::default() })
    };
    value.as_array()?.iter().map(one).collect()
}

/// What must be done to a program so that a script can be recognised: the instrumentation plan, as one JSON document.
///
/// `number` is that of the published byte format; it is null where there are more than that has numbers for. With
/// `valueabstract`, `abstraction` says which values need not be sent: an assignment matters if it is the first one, or
/// changes one of the `thresholds`; or always, for the reason that `off` gives.
pub fn plan(script: &Lowered) -> String {
    let abstractions = script.parts.abstractions();
    let entities = script.entities.iter().enumerate().map(|(at, entity)| {
        let mut one = Map::new();
        let (kind, abstraction) = match entity.id {
            Id::Variable(variable) => ("variable", abstractions.get(variable.0 as usize)),
            Id::Method(_) => ("method", None),
        };
        one.insert("number".into(), json!(Some(at + 10).filter(|number| *number <= 127)));
        one.insert("kind".into(), kind.into());
        one.insert("name".into(), entity.path.to_string().into());
        one.insert("alias".into(), json!(entity.alias));
        one.insert("type".into(), json!(entity.ty.as_ref().map(ToString::to_string)));
        let scope = entity
            .scope
            .as_ref()
            .map(|scope| json!({ "not": scope.is_negated, "in": scope.path.to_string() }));
        one.insert("scope".into(), json!(scope));
        one.insert("constant".into(), entity.is_constant.into());
        let abstraction = abstraction.filter(|_| script.options.valueabstract.is_some());
        one.insert("abstraction".into(), json!(abstraction.map(shown)));
        Value::Object(one)
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

fn shown(abstraction: &Abstraction) -> Value {
    match abstraction {
        Abstraction::Off(Because::Update) => json!({ "off": "the script has `update` of it" }),
        Abstraction::Off(Because::Computed) => json!({ "off": "the script computes with it" }),
        Abstraction::Thresholds(all) => {
            let thresholds = all.iter().map(|threshold| {
                let against = match &threshold.against {
                    Constant::Whole(value) => json!(value),
                    Constant::Floating(value) if value.is_finite() => json!(value),
                    Constant::Floating(value) => json!(value.to_string()),
                    Constant::Text(text) => json!(text),
                };
                let operator = threshold.operator.word();
                json!({ "operator": operator, "type": threshold.ty.word(), "against": against })
            });
            json!({ "thresholds": thresholds.collect::<Vec<_>>() })
        }
    }
}

fn pretty(document: &Value) -> String {
    // Writing plain data into memory does not fail.
    serde_json::to_string_pretty(document).map_or(String::new(), |text| text + "\n")
}
