//! Renders diagnostics for people: source lines, carets, labels and help.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use invigil_expr::diag::{Diagnostic, Severity, Sources, Span};
use std::ops::Range;

/// Renders the diagnostics, separated by empty lines; without a trailing line end.
///
/// ```
/// use invigil_expr::diag::{Diagnostic, Sources, Span};
/// use invigil_lang::report::render;
///
/// let mut sources = Sources::default();
/// let file = sources.add("queue.prop", "state init {}\nstate redy {}\n");
/// let diagnostic = Diagnostic::warning(Span::new(file, 20, 24), "nothing leads to `redy`").label("unused");
/// let shown = render(&sources, &[diagnostic], false);
/// assert!(shown.contains("queue.prop:2:7"));
/// assert!(shown.contains("^^^^ unused"));
/// ```
pub fn render(sources: &Sources, diagnostics: &[Diagnostic], colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let shown: Vec<String> =
        diagnostics.iter().map(|diagnostic| renderer.render(&[group(sources, diagnostic)])).collect();
    shown.join("\n\n")
}

fn group<'a>(sources: &'a Sources, diagnostic: &'a Diagnostic) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(&diagnostic.message));
    // One snippet for each file, the one with the caret first.
    let mut files = vec![diagnostic.span.source];
    for (span, _) in &diagnostic.related {
        if !files.contains(&span.source) {
            files.push(span.source);
        }
    }
    for file in files {
        let Some(source) = sources.get(file) else { continue };
        let primary = (diagnostic.span, &diagnostic.label, AnnotationKind::Primary);
        let related = diagnostic.related.iter().map(|(span, label)| (*span, label, AnnotationKind::Context));
        let marks: Vec<_> = std::iter::once(primary)
            .chain(related)
            .filter(|(span, _, _)| span.source == file)
            .map(|(span, label, kind)| (range(&source.text, span), label, kind))
            .collect();
        group = group.element(snippet(&source.name, &source.text, &marks));
    }
    match &diagnostic.help {
        Some(help) => group.element(Level::HELP.message(help)),
        None => group,
    }
}

type Mark<'a> = (Range<usize>, &'a String, AnnotationKind);

/// The source lines that contain the marks.
fn snippet<'a>(name: &'a str, text: &'a str, marks: &[Mark<'a>]) -> Snippet<'a, Annotation<'a>> {
    let first = marks.iter().map(|(range, ..)| range.start).min().unwrap_or(0);
    let last = marks.iter().map(|(range, ..)| range.end).max().unwrap_or(0);
    let start = text[..first].rfind('\n').map_or(0, |at| at + 1);
    let end = text[last..].find('\n').map_or(text.len(), |at| last + at + 1);
    let lines_before = text[..start].bytes().filter(|byte| *byte == b'\n').count();
    let annotations = marks.iter().map(|(range, label, kind)| {
        let annotation = kind.span(range.start - start..range.end - start);
        if label.is_empty() { annotation } else { annotation.label(label.as_str()) }
    });
    Snippet::source(&text[start..end]).path(name).line_start(lines_before + 1).annotations(annotations)
}

/// The byte range of a span, clamped to the text and to character boundaries.
fn range(text: &str, span: Span) -> Range<usize> {
    let start = text.floor_char_boundary(span.start as usize);
    let end = text.ceil_char_boundary(span.end as usize).max(start);
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn show(text: &str, start: usize, end: usize) -> String {
        let mut sources = Sources::default();
        let file = sources.add("f.prop", text);
        let diagnostic = Diagnostic::error(Span::new(file, start as u32, end as u32), "wrong").label("here");
        render(&sources, &[diagnostic], false)
    }

    #[test]
    fn caret_points_into_the_line() {
        assert_eq!(
            show("state a\nstate b {\n", 14, 15),
            "error: wrong\n --> f.prop:2:7\n  |\n2 | state b {\n  |       ^ here"
        );
    }

    #[test]
    fn empty_span_gets_one_caret() {
        assert!(show("abc\n", 1, 1).contains("1 | abc\n  |  ^ here"));
        assert!(show("abc", 3, 3).contains("1 | abc\n  |    ^ here"));
        assert!(show("abc\n", 4, 4).contains("f.prop:2:1"), "{}", show("abc\n", 4, 4));
        assert!(show("", 0, 0).contains("f.prop:1:1"));
    }

    #[test]
    fn spans_outside_the_file_are_clamped() {
        assert!(show("abc", 90, 99).contains("here"));
        assert!(show("é", 1, 1).contains("here"));
        let unknown = Diagnostic::error(Span::new(invigil_expr::diag::SourceId(9), 0, 1), "lost");
        assert_eq!(render(&Sources::default(), &[unknown], false), "error: lost");
    }

    #[test]
    fn multiline_tabs_and_wide_characters_align() {
        let several = show("a {\n  b\n}\n", 2, 9);
        assert!(several.contains("1 | / a {") || several.contains("1 |   a {"), "{several}");
        assert!(several.contains("here"));
        assert!(show("\tab\r\ncd", 1, 3).contains("1 |     ab\n  |     ^^ here"));
        assert!(show("日本 x\n", 7, 8).contains("1 | 日本 x\n  |      ^ here"));
    }

    #[test]
    fn very_long_line_is_trimmed() {
        let shown = show(&format!("{} x {}", "a".repeat(5000), "b".repeat(5000)), 5001, 5002);
        assert!(shown.lines().all(|line| line.chars().count() < 200), "{shown}");
        assert!(shown.contains("^ here"));
    }

    #[test]
    fn related_positions_and_help_are_shown() {
        let mut sources = Sources::default();
        let file = sources.add("f.prop", "success a\nsuccess b\n");
        let other = sources.add("g.prop", "state a\n");
        let diagnostic = Diagnostic::error(Span::new(file, 10, 17), "twice")
            .label("second")
            .related(Span::new(file, 0, 7), "first")
            .related(Span::new(other, 6, 7), "also")
            .help("keep one");
        let shown = render(&sources, &[diagnostic.clone(), diagnostic.clone()], false);
        for part in ["^^^^^^^ second", "------- first", "g.prop", "- also", "help: keep one"] {
            assert_eq!(shown.matches(part).count(), 2, "{part} in\n{shown}");
        }
        assert!(render(&sources, &[diagnostic], true).contains("\u{1b}["));
    }

    proptest! {
        #[test]
        fn any_span_of_any_text_renders(text in "([a\t\r\n é日]|\u{feff}){0,40}", a in 0u32..60, b in 0u32..60) {
            prop_assert!(show(&text, a.min(b) as usize, a.max(b) as usize).contains("here"));
        }
    }
}
