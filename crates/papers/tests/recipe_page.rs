//! Tests of `docs/recipe.md`: it describes every key that the reader has, and its example parses and runs.

#![allow(clippy::expect_used, clippy::panic, reason = "helpers fail as tests do")]

use millpond_papers::{
    Analysis, COLUMNS, Case, CheckOptions, Combine, Deviation, EntityPattern, Expectation, Extent,
    FigurePanel, FigureX, Library, NumberIn, NyquistOptions, Paper, ROWS, Reading, Recipe, RecipeFigure,
    RecipeFigureKind, RowVerdict, Statistic, Twin, check,
};
use millpond_recurrences::Recurrence;
use millpond_results::{Unwatched, World};
use serde::de::{Deserialize, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;

const PAGE: &str = include_str!("../../../docs/recipe.md");

/// A deserializer that records the names of the fields or variants of a type.
struct NameRecorder<'a>(&'a mut Vec<&'static str>);

impl<'de> Deserializer<'de> for NameRecorder<'_> {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(Self::Error::custom("no value"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.0.extend(fields);
        self.deserialize_any(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.0.extend(variants);
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map identifier ignored_any
    }
}

/// The keys of a table, or the values of an enumeration, that the reader accepts.
fn keys<'de, T: Deserialize<'de>>() -> Vec<&'static str> {
    let mut names = Vec::new();
    let read = T::deserialize(NameRecorder(&mut names));
    assert!(read.is_err() && !names.is_empty());
    names
}

/// The part of the page from one heading up to the next.
fn section(heading: &str) -> &'static str {
    let begin = PAGE.find(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no section {heading}"));
    let rest = &PAGE[begin + 4..];
    rest.find("\n## ").map_or(rest, |end| &rest[..end])
}

fn assert_described(heading: &str, keys: &[&str]) {
    let text = section(heading);
    for key in keys {
        let forms =
            [format!("`{key}`"), format!("`{{ {key} ="), format!("`\"{key}\"`"), format!(", {key} =")];
        let found = forms.iter().any(|form| text.contains(form)) || text.contains(&format!("{{ {key} = "));
        assert!(found, "docs/recipe.md, section \"{heading}\", does not describe {key}");
    }
}

#[test]
fn the_page_describes_every_key_that_the_reader_accepts() {
    assert_described("At the top", &[keys::<Recipe>(), keys::<Extent>()].concat());
    assert_described("The table form", &[COLUMNS, ROWS]);
    assert_described(
        "`[[cases]]`",
        &[keys::<Case>(), keys::<World>(), keys::<Analysis>(), keys::<NyquistOptions>()].concat(),
    );
    let entity = [keys::<EntityPattern>(), keys::<Deviation>()].concat();
    let statistics = [keys::<Statistic>(), keys::<Combine>()].concat();
    assert_described("`[[expect]]`", &[keys::<Expectation>(), keys::<Twin>(), entity, statistics].concat());
    let axes = [keys::<FigureX>(), keys::<NumberIn>()].concat();
    let figure = [keys::<RecipeFigure>(), keys::<RecipeFigureKind>(), keys::<FigurePanel>(), axes].concat();
    assert_described("`[[figures]]`", &figure);
    assert_described("`paper.toml`", &[keys::<Paper>(), keys::<Reading>()].concat());
}

/// The names that the message about an unknown one lists.
fn expected_names(recurrence: &str) -> Vec<String> {
    let message = toml::from_str::<Recurrence>(recurrence).expect_err("an unknown name").to_string();
    let (_, names) = message.split_once("expected").expect("the expected names");
    names.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_page_describes_every_recurrence_and_its_keys() {
    let table = section("`[recurrence]`");
    for law in expected_names("law = '?'") {
        let keys = expected_names(&format!("law = '{law}'\n'?' = 0"));
        let described = |line: &&str| line.starts_with('|') && line.contains(&format!("`{law}`"));
        let line = table.lines().find(described).unwrap_or_else(|| panic!("no line for {law}"));
        let missing: Vec<_> = keys.iter().filter(|key| !line.contains(&format!("`{key}`"))).collect();
        assert!(missing.is_empty(), "{law}: {missing:?}");
    }
}

#[test]
fn the_example_of_the_page_parses_and_every_row_matches() {
    let blocks: Vec<&str> = section("An example").split("```toml\n").skip(1).collect();
    let text = |block: &str| block.split("```").next().unwrap_or_default().to_owned();
    let folder = tempfile::tempdir().unwrap();
    let paper = folder.path().join("example");
    std::fs::create_dir(&paper).unwrap();
    std::fs::write(paper.join("paper.toml"), text(blocks[0])).unwrap();
    std::fs::write(paper.join("join.toml"), text(blocks[1])).unwrap();
    let library = Library::read(folder.path()).unwrap();
    let checked = check(&library.select(None).unwrap(), &CheckOptions::quick(), &Unwatched).unwrap();
    assert_eq!(checked[0].rows.len(), 8);
    assert_eq!(checked[0].verdict(None), Some(RowVerdict::Matches), "{:#?}", checked[0].rows);
}
