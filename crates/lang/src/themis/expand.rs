//! Expands the templates of a specification document.

use crate::decent::{Text, nearest_help, report};
use invigil_expr::diag::{Diagnostic, SourceId, Span};
use roxmltree::{Document, Node};
use std::collections::HashMap;

/// A specification whose formula is not parsed yet.
pub(super) struct XmlSpecification {
    pub(super) id: Text,
    pub(super) class: Text,
    /// The tags of its setters, with their contents.
    pub(super) setters: Vec<(String, Span, Text)>,
}

/// The maximum number of specifications, reached only by templates.
const MAX_SPECIFICATIONS: usize = 50_000;

/// The maximum size of the expanded text.
const MAX_WRITTEN: usize = 32 << 20;

/// The maximum nesting depth of templates.
const MAX_DEPTH: usize = 32;

/// The values substituted for `%name%`.
type Values = HashMap<String, String>;

/// Returns all specifications of a document.
pub(super) fn specifications(
    source: SourceId,
    text: &str,
    document: &Document<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<XmlSpecification> {
    let mut expander = Expander {
        source,
        text,
        templates: HashMap::new(),
        found: Vec::new(),
        written: 0,
        is_full: false,
        diagnostics,
    };
    let root = document.root_element();
    if root.tag_name().name() != "specifications" {
        let diagnostic = Diagnostic::error(
            expander.tag(root),
            format!("expected <specifications>, found <{}>", root.tag_name().name()),
        );
        report(expander.diagnostics, diagnostic.help("is this a THEMIS specification?"));
        return Vec::new();
    }
    for node in root.children().filter(|node| node.has_tag_name("template")) {
        let Some(id) = expander.attribute(node, "id", None) else { continue };
        if let Some(first) = expander.templates.insert(id.as_str().to_owned(), node) {
            let first = expander.tag(first);
            let diagnostic =
                Diagnostic::error(expander.tag(node), format!("duplicate template `{}`", id.as_str()));
            report(expander.diagnostics, diagnostic.related(first, "first declaration"));
        }
    }
    expander.expand_children(root, None, &[]);
    expander.found
}

struct Expander<'a, 'input> {
    source: SourceId,
    text: &'a str,
    templates: HashMap<String, Node<'a, 'input>>,
    found: Vec<XmlSpecification>,
    written: usize,
    is_full: bool,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl<'a, 'input> Expander<'a, 'input> {
    /// Expands the specifications and template instances in an element.
    fn expand_children(
        &mut self,
        parent: Node<'a, 'input>,
        values: Option<&Values>,
        open_templates: &[String],
    ) {
        for node in parent.children().filter(Node::is_element) {
            if self.is_full {
                return;
            }
            match node.tag_name().name() {
                "specification" => self.specification(node, values),
                "instanciate" | "instantiate" => self.instance(node, values, open_templates),
                "template" if values.is_none() => {}
                "arg" if values.is_some() => {}
                other => {
                    let known = ["specification", "template", "instanciate"].into_iter();
                    let diagnostic =
                        Diagnostic::error(self.tag(node), format!("unexpected element <{other}>"));
                    report(self.diagnostics, nearest_help(diagnostic, other, known));
                }
            }
        }
    }

    fn specification(&mut self, node: Node<'a, 'input>, values: Option<&Values>) {
        let (id, class) = (self.attribute(node, "id", values), self.attribute(node, "class", values));
        let mut setters = Vec::new();
        for setter in node.children().filter(Node::is_element) {
            let Some(value) = self.content(setter, values) else { continue };
            self.written += value.as_str().len();
            setters.push((setter.tag_name().name().to_owned(), self.tag(setter), value));
        }
        if self.found.len() == MAX_SPECIFICATIONS || self.written > MAX_WRITTEN {
            self.is_full = true;
            let diagnostic = Diagnostic::error(self.tag(node), "the expanded specification is too large");
            let help =
                format!("the limit is {MAX_SPECIFICATIONS} specifications and {} MiB", MAX_WRITTEN >> 20);
            return report(self.diagnostics, diagnostic.help(help));
        }
        if let (Some(id), Some(class)) = (id, class) {
            self.found.push(XmlSpecification { id, class, setters });
        }
    }

    /// Expands `<instanciate template="NAME">`, which has an element for each argument.
    fn instance(&mut self, node: Node<'a, 'input>, values: Option<&Values>, open_templates: &[String]) {
        let Some(name) = self.attribute(node, "template", values) else { return };
        let (name, span) = (name.as_str().to_owned(), name.span(0..name.as_str().len()));
        let Some(template) = self.templates.get(&name).copied() else {
            let diagnostic = Diagnostic::error(span, format!("unknown template `{name}`"));
            let diagnostic = nearest_help(diagnostic, &name, self.templates.keys().map(String::as_str));
            return report(self.diagnostics, diagnostic);
        };
        if open_templates.contains(&name) || open_templates.len() == MAX_DEPTH {
            let message = match open_templates.contains(&name) {
                true => format!("the template `{name}` is recursive"),
                false => {
                    format!("templates are nested more than {MAX_DEPTH} levels deep")
                }
            };
            let diagnostic = Diagnostic::error(span, message).related(self.tag(template), "declared here");
            return report(self.diagnostics, diagnostic);
        }
        let mut parameters = Vec::new();
        for parameter in template.children().filter(|child| child.has_tag_name("arg")) {
            parameters.extend(self.content(parameter, None).map(|name| name.as_str().trim().to_owned()));
        }
        let mut arguments = Values::new();
        for argument in node.children().filter(Node::is_element) {
            let parameter = argument.tag_name().name();
            let Some(value) = self.content(argument, values) else { continue };
            if !parameters.iter().any(|known| known == parameter) {
                let diagnostic =
                    Diagnostic::error(self.tag(argument), format!("`{name}` has no argument `{parameter}`"));
                report(
                    self.diagnostics,
                    nearest_help(diagnostic, parameter, parameters.iter().map(String::as_str)),
                );
            } else if arguments.insert(parameter.to_owned(), value.as_str().trim().to_owned()).is_some() {
                report(
                    self.diagnostics,
                    Diagnostic::error(self.tag(argument), format!("duplicate argument `{parameter}`")),
                );
            }
        }
        let missing: Vec<&String> =
            parameters.iter().filter(|parameter| !arguments.contains_key(*parameter)).collect();
        if let [first, ..] = missing.as_slice() {
            let message = format!("the argument `{first}` of `{name}` is missing");
            let diagnostic = Diagnostic::error(span, message).related(self.tag(template), "declared here");
            return report(self.diagnostics, diagnostic.help(format!("write: <{first}>value</{first}>")));
        }
        let mut open_templates = open_templates.to_vec();
        open_templates.push(name);
        self.expand_children(template, Some(&arguments), &open_templates);
    }

    /// The position of an element's start tag, up to the end of its name.
    fn tag(&self, node: Node<'_, '_>) -> Span {
        let start = node.range().start;
        let rest = &self.text[start..];
        let length = rest
            .find(|letter: char| letter.is_whitespace() || matches!(letter, '>' | '/'))
            .unwrap_or(rest.len());
        Span::new(self.source, start as u32, (start + length) as u32)
    }

    /// Returns a required attribute.
    fn attribute(&mut self, node: Node<'a, 'input>, name: &str, values: Option<&Values>) -> Option<Text> {
        let Some(attribute) = node.attribute_node(name).filter(|attribute| !attribute.value().is_empty())
        else {
            let message = format!("<{}> needs the attribute `{name}`", node.tag_name().name());
            let diagnostic = Diagnostic::error(self.tag(node), message);
            report(
                self.diagnostics,
                diagnostic.help(format!("write: <{} {name}=\"…\">", node.tag_name().name())),
            );
            return None;
        };
        let mut text = Text::new(self.source);
        self.put(&mut text, attribute.value(), attribute.range_value(), values).then_some(text)
    }

    /// Returns the text content of an element.
    fn content(&mut self, node: Node<'a, 'input>, values: Option<&Values>) -> Option<Text> {
        let mut text = Text::new(self.source);
        for child in node.children() {
            if child.is_element() {
                let message = format!("unexpected element <{}>", child.tag_name().name());
                report(
                    self.diagnostics,
                    Diagnostic::error(self.tag(child), message).help("only text is allowed here"),
                );
                return None;
            }
            let value = child.text().filter(|_| child.is_text()).unwrap_or_default();
            if !self.put(&mut text, value, child.range(), values) {
                return None;
            }
        }
        Some(text)
    }

    /// Appends a text of the document with arguments substituted for `%name%`. Returns whether all of them exist.
    fn put(
        &mut self,
        text: &mut Text,
        value: &str,
        range: std::ops::Range<usize>,
        values: Option<&Values>,
    ) -> bool {
        // If the text contains entities, it is not copied verbatim.
        let verbatim_start =
            self.text.get(range.clone()).and_then(|written| written.find(value)).map(|at| range.start + at);
        let copy = |text: &mut Text, part: &str, at: usize| match verbatim_start {
            Some(start) => text.copy(part, start + at),
            None => text.put(part, range.clone()),
        };
        let Some(values) = values else {
            copy(text, value, 0);
            return true;
        };
        let mut from = 0;
        while let Some((open, close)) = reference(value, from) {
            let name = &value[open + 1..close];
            let place = verbatim_start.map_or(range.clone(), |start| start + open..start + close + 1);
            let Some(argument) = values.get(name) else {
                let span = Span::new(self.source, place.start as u32, place.end as u32);
                let diagnostic = Diagnostic::error(span, format!("the template has no argument `{name}`"));
                report(self.diagnostics, nearest_help(diagnostic, name, values.keys().map(String::as_str)));
                return false;
            };
            copy(text, &value[from..open], from);
            text.put(argument, place);
            from = close + 1;
        }
        copy(text, &value[from..], from);
        true
    }
}

/// Returns the positions of the signs of the next `%name%`.
fn reference(value: &str, from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    loop {
        let open = at + value[at..].find('%')?;
        let close = open + 1 + value[open + 1..].find('%')?;
        let name = &value[open + 1..close];
        if !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_') {
            return Some((open, close));
        }
        at = close;
    }
}
