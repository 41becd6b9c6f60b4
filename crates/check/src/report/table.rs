//! Tables with aligned columns, fitted to the available width.

use super::format::{cut, width};
use super::{Paint, Style};

/// Alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

struct Column {
    title: String,
    align: Align,
    /// The column is not cut below this width.
    min_cut_width: usize,
}

enum Row {
    Cells(Vec<(String, Paint)>),
    /// A line across all columns.
    Note(String),
}

/// A table to be filled row by row.
#[derive(Default)]
pub(super) struct Table {
    columns: Vec<Column>,
    rows: Vec<Row>,
}

const GAP: &str = "  ";
const INDENT: &str = "  ";

impl Table {
    /// Adds a column. If the table is too wide, the column is cut to no less than `min_cut_width`.
    pub(super) fn column(&mut self, title: &str, align: Align, min_cut_width: usize) {
        self.columns.push(Column { title: title.to_owned(), align, min_cut_width });
    }

    pub(super) fn row(&mut self, cells: Vec<(String, Paint)>) {
        self.rows.push(Row::Cells(cells));
    }

    pub(super) fn note(&mut self, text: String) {
        self.rows.push(Row::Note(text));
    }

    /// Whether the table fits into this width.
    pub(super) fn fits(&self, max_width: usize) -> bool {
        self.widths(max_width).iter().sum::<usize>() + self.gaps() <= max_width
    }

    /// Total width of the gaps between the columns and of the indentation.
    fn gaps(&self) -> usize {
        INDENT.len() + GAP.len() * self.columns.len().saturating_sub(1)
    }

    /// Renders the table, each line indented.
    pub(super) fn render(&self, style: &Style) -> String {
        let widths = self.widths(style.width);
        let mut out = String::new();
        let titles = self.columns.iter().map(|column| (column.title.as_str(), Paint::Faint));
        self.line(&mut out, style, &widths, titles);
        for row in &self.rows {
            match row {
                Row::Cells(cells) => {
                    let cells = cells.iter().map(|(text, paint)| (text.as_str(), *paint));
                    self.line(&mut out, style, &widths, cells);
                }
                Row::Note(text) => {
                    out.push_str(INDENT);
                    out.push_str(
                        &style.paint(Paint::Faint, &cut(text, style.width.saturating_sub(INDENT.len()))),
                    );
                    out.push('\n');
                }
            }
        }
        out
    }

    /// Widths of the columns: the widest ones are cut until all fit.
    fn widths(&self, max_width: usize) -> Vec<usize> {
        let mut widths: Vec<usize> = self.columns.iter().map(|column| width(&column.title)).collect();
        for row in &self.rows {
            let Row::Cells(cells) = row else { continue };
            for (widest, (text, _)) in widths.iter_mut().zip(cells) {
                *widest = (*widest).max(width(text));
            }
        }
        while self.gaps() + widths.iter().sum::<usize>() > max_width {
            let cuttable =
                widths.iter_mut().zip(&self.columns).filter(|(width, column)| **width > column.min_cut_width);
            let Some((widest, _)) = cuttable.max_by_key(|(width, _)| **width) else { break };
            *widest -= 1;
        }
        widths
    }

    fn line<'c>(
        &self,
        out: &mut String,
        style: &Style,
        widths: &[usize],
        cells: impl Iterator<Item = (&'c str, Paint)>,
    ) {
        let mut blanks = INDENT.len();
        for (((text, paint), column), max_width) in cells.zip(&self.columns).zip(widths) {
            let text = cut(text, *max_width);
            let spare = max_width - width(&text);
            let (before, after) = match column.align {
                Align::Left => (0, spare),
                Align::Right => (spare, 0),
            };
            // Blanks are written only before a text, so that no line ends with blanks.
            blanks += before;
            if !text.is_empty() {
                out.extend(std::iter::repeat_n(' ', blanks));
                out.push_str(&style.paint(paint, &text));
                blanks = 0;
            }
            blanks += after + GAP.len();
        }
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> (String, Paint) {
        (text.to_owned(), Paint::Plain)
    }

    fn table() -> Table {
        let mut table = Table::default();
        table.column("event", Align::Right, 5);
        table.column("what", Align::Left, 6);
        table.column("N", Align::Right, 1);
        table.row(vec![plain("1"), plain("queue_push(queue=1)"), plain("10")]);
        table.row(vec![plain(""), plain("日本"), plain("")]);
        table
    }

    #[test]
    fn table_aligns_columns_without_trailing_blanks() {
        let mut table = table();
        table.note("…".into());
        let shown = table.render(&Style::default());
        assert_eq!(
            shown,
            "  event  what                  N\n      1  queue_push(queue=1)  10\n         日本\n  …\n"
        );
    }

    #[test]
    fn table_too_wide_cuts_the_widest_column() {
        let shown = table().render(&Style { colour: false, width: 20 });
        assert!(shown.contains("      1  queue_…  10\n"), "{shown}");
        let narrow = table().render(&Style { colour: false, width: 3 });
        assert!(narrow.contains("      1  queue…"), "cut below the minimum width: {narrow}");
    }

    #[test]
    fn colour_codes_do_not_count_as_width() {
        let style = Style { colour: true, width: 100 };
        let mut table = Table::default();
        table.column("a", Align::Right, 1);
        table.row(vec![("x".into(), Paint::Bad)]);
        table.row(vec![("long".into(), Paint::Plain)]);
        assert!(table.render(&style).contains("     \u{1b}["), "{:?}", table.render(&style));
    }
}
