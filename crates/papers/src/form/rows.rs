//! The table form: an entry with `rows` stands for one entry per row.
//!
//! The fields beside `rows` are common to all rows. A row is a list with a value for each of `columns`, which may end
//! with a table of further keys; or it is a table. A column is a key of the entry, or a variable: `"{name}"`.

use super::fault::Fault;
use super::node::SpannedValue;
use super::variables::{Variables, mentions};
use std::borrow::Cow;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// The key with the names of the columns.
pub const COLUMNS: &str = "columns";
/// The key with the rows.
pub const ROWS: &str = "rows";
/// The key whose table is merged with that of the group, instead of replacing it.
const SET: &str = "set";

/// Expands the entries of every list in a table, and replaces `{name}`.
pub(super) fn expand<'i>(table: &mut DeTable<'i>, variables: &Variables<'i>) -> Result<(), Fault> {
    table.iter_mut().try_for_each(|(_, value)| match value.get_mut() {
        DeValue::Table(inner) => expand(inner, variables),
        DeValue::Array(items) => {
            for item in std::mem::replace(items, DeArray::new()) {
                expand_entry(item, variables, items)?;
            }
            Ok(())
        }
        _ => Ok(()),
    })
}

/// Adds an item of a list to `out`: one entry per row if it has `rows`.
fn expand_entry<'i>(
    item: SpannedValue<'i>,
    variables: &Variables<'i>,
    out: &mut DeArray<'i>,
) -> Result<(), Fault> {
    let span = item.span();
    let mut fields = match item.into_inner() {
        DeValue::Table(fields) => fields,
        plain => {
            out.push(Spanned::new(span, plain));
            return Ok(());
        }
    };
    let columns = fields.remove(COLUMNS);
    let Some(rows) = fields.remove(ROWS) else {
        if let Some(columns) = columns {
            return Err(Fault::at(columns.span(), "columns need rows"));
        }
        expand(&mut fields, variables)?;
        variables.fill_table(&mut fields)?;
        out.push(Spanned::new(span, DeValue::Table(fields)));
        return Ok(());
    };
    let group = RowFields { columns: columns.map_or(Ok(Vec::new()), read_columns)?, fields };
    let rows_span = rows.span();
    let DeValue::Array(rows) = rows.into_inner() else {
        return Err(Fault::at(rows_span, "rows is a list"));
    };
    group.check(&rows)?;
    rows.into_iter().try_for_each(|row| {
        let span = row.span();
        let mut variables = variables.clone();
        let fields = group.row(row, &mut variables)?;
        expand_entry(Spanned::new(span, DeValue::Table(fields)), &variables, out)
    })
}

/// A column: a key of the entry or a variable.
struct RowColumn {
    span: Range<usize>,
    name: String,
    variable: bool,
}

fn read_columns(node: SpannedValue<'_>) -> Result<Vec<RowColumn>, Fault> {
    let expected = "columns is a list of names such as \"case\" or \"{share}\"";
    let span = node.span();
    let DeValue::Array(names) = node.into_inner() else { return Err(Fault::at(span, expected)) };
    let column = |node: SpannedValue<'_>| {
        let span = node.span();
        let DeValue::String(text) = node.into_inner() else { return Err(Fault::at(span, expected)) };
        let inner = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        Ok(RowColumn { span, name: inner.unwrap_or(&text).to_owned(), variable: inner.is_some() })
    };
    names.into_iter().map(column).collect()
}

/// The columns of an entry's rows, and the fields common to all rows.
struct RowFields<'i> {
    columns: Vec<RowColumn>,
    fields: DeTable<'i>,
}

impl<'i> RowFields<'i> {
    /// Checks that every variable is used, and that no column is a common field as well.
    fn check(&self, rows: &DeArray<'i>) -> Result<(), Fault> {
        self.columns.iter().try_for_each(|column| {
            let name = &column.name;
            let fault = |message: String| Err(Fault::at(column.span.clone(), message));
            let values = self.fields.iter().map(|(_, value)| value).chain(rows);
            if column.variable && !values.into_iter().any(|value| mentions(value.get_ref(), name)) {
                return fault(format!("no text of this entry has {{{name}}}"));
            }
            if !column.variable && name != SET && self.fields.contains_key(name.as_str()) {
                return fault(format!("{name} is a column and a field beside rows"));
            }
            Ok(())
        })
    }

    /// The common fields, replaced by those of one row; the row's values are added to the variables.
    fn row(&self, row: SpannedValue<'i>, variables: &mut Variables<'i>) -> Result<DeTable<'i>, Fault> {
        let mut fields = self.fields.clone();
        let span = row.span();
        let mut cells: Vec<_> = match row.into_inner() {
            DeValue::Table(own) => {
                merge_fields(&mut fields, own);
                return Ok(fields);
            }
            DeValue::Array(cells) => cells.into_iter().collect(),
            _ => return Err(Fault::at(span, "a row is a list with a value for each column, or a table")),
        };
        let more = if cells.len() > self.columns.len() { cells.pop() } else { None };
        let more = match more.map(Spanned::into_inner) {
            None => DeTable::new(),
            Some(DeValue::Table(more)) if cells.len() == self.columns.len() => more,
            Some(_) => return Err(self.wrong_length(cells.len() + 1, span)),
        };
        if cells.len() != self.columns.len() {
            return Err(self.wrong_length(cells.len(), span));
        }
        let mut own = DeTable::new();
        for (column, cell) in self.columns.iter().zip(cells) {
            variables.set(&column.name, cell.clone());
            if !column.variable {
                own.insert(Spanned::new(column.span.clone(), Cow::Owned(column.name.clone())), cell);
            }
        }
        merge_fields(&mut fields, own);
        merge_fields(&mut fields, more);
        Ok(fields)
    }

    fn wrong_length(&self, values: usize, span: Range<usize>) -> Fault {
        let names: Vec<_> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let count = names.len();
        Fault::at(span, format!("a row of {values} values for {count} columns: {}", names.join(", ")))
    }
}

/// Replaces fields of `lower` by those of `upper`; the table `set` is merged key by key.
fn merge_fields<'i>(lower: &mut DeTable<'i>, upper: DeTable<'i>) {
    for (key, value) in upper {
        let set = lower.get_mut(SET).filter(|_| key.get_ref() == SET).map(Spanned::get_mut);
        match (set, value.get_ref()) {
            (Some(DeValue::Table(common)), DeValue::Table(own)) => common.extend(own.clone()),
            _ => {
                lower.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use toml::Table;

    fn table(text: &str) -> Result<Table, String> {
        read(text, &|_| None).map_err(|fault| fault.show(text))
    }

    fn same(short: &str, long: &str) {
        assert_eq!(table(short).unwrap(), long.parse().unwrap());
    }

    #[test]
    fn an_entry_with_rows_expands_to_one_entry_per_row() {
        same(
            "[[flows]]\nprotocol = 'p'\ncolumns = ['name', 'rtt']\nrows = [['a', '1ms'], ['b', '2ms', { start = '1s' }]]",
            "[[flows]]\nprotocol = 'p'\nname = 'a'\nrtt = '1ms'\n\
             [[flows]]\nprotocol = 'p'\nname = 'b'\nrtt = '2ms'\nstart = '1s'",
        );
    }

    #[test]
    fn a_variable_is_replaced_in_texts_and_keys_and_keeps_its_type_if_it_is_the_whole_text() {
        same(
            "[[cases]]\nname = '{n} flows, {share}'\nset = { 'flows.{group}.count' = '{n}' }\n\
             columns = ['{n}', '{share}', '{group}']\nrows = [[50, 0.5, 'f'], [60, 1e-6, 'g']]",
            "[[cases]]\nname = '50 flows, 0.5'\nset = { 'flows.f.count' = 50 }\n\
             [[cases]]\nname = '60 flows, 1e-6'\nset = { 'flows.g.count' = 60 }",
        );
        same(
            "[[e]]\nwhat = 'rate, {case}'\ncolumns = ['case']\nrows = [['x']]",
            "[[e]]\nwhat = 'rate, x'\ncase = 'x'",
        );
    }

    #[test]
    fn the_values_set_by_a_row_are_merged_over_those_of_its_group() {
        same(
            "[[cases]]\nset = { a = 1, b = 1 }\ncolumns = ['name', 'set']\nrows = [['x', { b = 2 }], ['y', {}]]",
            "[[cases]]\nname = 'x'\nset = { a = 1, b = 2 }\n[[cases]]\nname = 'y'\nset = { a = 1, b = 1 }",
        );
    }

    #[test]
    fn rows_may_be_tables_and_groups_may_hold_groups() {
        same(
            "[[e]]\nreading = 'w'\nset = { a = 1, b = 1 }\n[[e.rows]]\nwhat = 'x'\nset = { b = 2 }\n\
             [[e.rows]]\nreading = 'v'\ncolumns = ['what']\nrows = [['y'], ['z']]",
            "[[e]]\nreading = 'w'\nwhat = 'x'\nset = { a = 1, b = 2 }\n\
             [[e]]\nreading = 'v'\nwhat = 'y'\nset = { a = 1, b = 1 }\n\
             [[e]]\nreading = 'v'\nwhat = 'z'\nset = { a = 1, b = 1 }",
        );
    }

    #[test]
    fn a_list_inside_an_entry_has_a_table_form_of_its_own() {
        same(
            "[[cases]]\nname = 'n = {n}'\n\
             set = { flows = [{ count = '{n}', columns = ['name'], rows = [['a'], ['b']] }] }\n\
             columns = ['{n}']\nrows = [[3]]",
            "[[cases]]\nname = 'n = 3'\nset = { flows = [{ count = 3, name = 'a' }, { count = 3, name = 'b' }] }",
        );
    }

    #[test]
    fn a_named_text_replaces_its_name_in_other_texts() {
        let text = "[texts]\nbits = 'one bit'\n[[e]]\nbecause = '{bits} either way'";
        let read = table(text).unwrap();
        assert_eq!(read["e"][0]["because"].as_str(), Some("one bit either way"));
    }

    #[test]
    fn an_error_in_the_table_form_is_reported_with_its_line() {
        for (text, line, message) in [
            (
                "[[e]]\ncolumns = ['a', 'b']\nrows = [\n  [1, 2],\n  [1],\n]",
                5,
                "1 values for 2 columns: a, b",
            ),
            ("[[e]]\ncolumns = ['a']\nrows = [[1, 2, 3]]", 3, "3 values for 1 columns"),
            ("[[e]]\ncolumns = ['a']\nrows = [[1, 2]]", 3, "2 values for 1 columns"),
            ("[[e]]\ncolumns = ['a']", 2, "columns need rows"),
            ("[[e]]\ncolumns = 'a'\nrows = [[1]]", 2, "columns is a list of names"),
            ("[[e]]\ncolumns = ['a']\nrows = [1]", 3, "a row is a list"),
            ("[[e]]\ncolumns = ['a']\nrows = 1", 3, "rows is a list"),
            ("[[e]]\na = 1\ncolumns = ['a']\nrows = [[1]]", 3, "a is a column and a field"),
            ("[[e]]\ncolumns = ['{a}']\nrows = [[1]]", 2, "no text of this entry has {a}"),
            ("[[e]]\nb = '{ab}'\nc = '{abc}'\ncolumns = ['{abc}']\nrows = [[1]]", 2, "did you mean {abc}?"),
            ("[[e]]\nb = 'x {a}'\ncolumns = ['{a}']\nrows = [[[1]]]", 2, "a text or a number is expected"),
        ] {
            let fault = table(text).unwrap_err();
            assert!(fault.contains(&format!("line {line}, ")) && fault.contains(message), "{text}\n{fault}");
        }
    }
}
