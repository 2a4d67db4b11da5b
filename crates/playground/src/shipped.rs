//! The scenarios, traces and topologies that the binary contains.

use include_dir::{Dir, include_dir};
use std::path::{Component, Path};

static SCENARIOS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../scenarios");

/// A scenario file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScenarioText {
    /// The name of the file without extension.
    pub(crate) name: String,
    /// Its content.
    pub(crate) text: String,
}

/// The shipped scenarios in the order of their names.
pub(crate) fn scenarios() -> Vec<ScenarioText> {
    let is_toml = |path: &Path| path.extension().is_some_and(|extension| extension == "toml");
    let scenario = |file: &include_dir::File<'_>| {
        let name = file.path().file_stem()?.to_string_lossy().into_owned();
        Some(ScenarioText { name, text: file.contents_utf8()?.to_owned() })
    };
    let files = SCENARIOS.files().filter(|file| is_toml(file.path()));
    let mut found: Vec<ScenarioText> = files.filter_map(scenario).collect();
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

/// The content of a shipped trace or topology, whose path is relative to the folder of shipped scenarios.
pub(crate) fn file(path: &Path) -> Option<&'static [u8]> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name.to_str()?),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    SCENARIOS.get_file(names.join("/")).map(include_dir::File::contents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_files_have_plain_relative_paths() {
        assert!(file(Path::new("./traces/5g-static-demo.csv")).is_some_and(|bytes| bytes.len() > 100));
        for path in
            ["/traces/5g-static-demo.csv", "traces/../traces/5g-static-demo.csv", "traces", "none.csv"]
        {
            assert!(file(Path::new(path)).is_none(), "{path}");
        }
    }
}
