"""Settings of Sphinx. millpond_site/build.py writes the pages and calls it."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

project = "Millpond"
html_show_copyright = False
version = release = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]

extensions = ["myst_parser", "autoapi.extension", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["extra"]
highlight_language = "text"
html_theme = "furo"
html_title = "Millpond"
html_show_sphinx = False
# Summaries of search results need a server; the site is also read from files.
html_show_search_summary = False
html_copy_source = False
html_static_path = ["static"]
html_css_files = ["site.css"]

# Headings down to this level have the anchors that links of the pages use.
myst_heading_anchors = 6
myst_enable_extensions = ["attrs_inline"]
suppress_warnings = ["autoapi.python_import_resolution", "misc.highlighting_failure", "myst.header"]

# A page of the Python package begins with a summary of what it has. As entries of the tables of contents, which the
# theme copies for each page, its hundreds of names would take half of the time of a build.
toc_object_entries = False

# A block of commands is copied without its prompts and output.
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True

autoapi_dirs = [str(ROOT / "python/millpond")]
autoapi_root = "reference/python"
autoapi_add_toctree_entry = False
autoapi_options = ["members", "show-inheritance", "show-module-summary", "imported-members"]
autoapi_python_class_content = "class"
autoapi_member_order = "groupwise"
