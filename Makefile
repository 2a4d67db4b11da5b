# What a person types. Everything that the commands need is installed by them.
export CARGO_TERM_COLOR ?= auto
MILLPOND = cargo run --release --quiet --package millpond-cli --

.PHONY: help demo python site site-test test test-cluster python-test lint no-std docs node node-test soak bench bench-peers bench-growth bench-kernel bench-link bench-node bench-python bench-live papers readings same-bytes attack deny reference mutants scenario-reference

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 20

demo: ## six protocols, one with two settings, on a 5G last hop: table and report.html
	cargo build --release --package millpond-cli
	$(MILLPOND) compare scenarios/last-hop-5g.toml --protocols lgcc,lgcc:cellular,lgc,abc,dctcp,cubic,newreno

python: ## the Python package with its extras in .venv, and a first figure
	tests/install-venv.sh
	python3 -m venv .venv
	.venv/bin/pip install --quiet --disable-pip-version-check '.[all,notebook]'
	.venv/bin/python examples/first_figure.py

RECIPES ?= --short
site: ## the documentation as a static site in target/site/html, with the figures of recipes; RECIPES= for those that take long as well
	cargo build --release --package millpond-cli
	mkdir -p target/site
	website/build.sh target/release/millpond --quiet $(RECIPES)

site-test: ## opens every page of the finished site in Chromium: errors, width, search
	tests/install-chromium.sh
	cd website && ../target/site/venv/bin/python -m millpond_site.browse

test: ## every test
	tests/install-chromium.sh
	cargo test --workspace
	MILLPOND=$${CARGO_TARGET_DIR:-target}/debug/millpond tests/python.sh

test-cluster: ## sweeps on Dask and Ray, in an environment of their own
	tests/cluster.sh

python-test: ## the tests of the Python package: pytest, types
	tests/python.sh

lint: ## links of Markdown files, format, clippy with warnings denied, ruff for Python
	cd website && python3 -m millpond_site.anchors
	cargo fmt --all --check
	cd crates/node && cargo fmt --check
	tests/python-format.sh
	cargo clippy --workspace --all-targets -- -D warnings

NO_STD = thumbv7em-none-eabihf

no-std: ## the live datapath for a processor without an operating system
	@command -v rustup > /dev/null || { echo "make no-std: install rustup, which adds the target $(NO_STD)" >&2; exit 1; }
	@rustup target add $(NO_STD) || { echo "make no-std: rustup cannot add the target $(NO_STD); see above" >&2; exit 1; }
	cargo check --target $(NO_STD) --package millpond-units --package millpond-stats --package millpond-law --package millpond-endpoint

deny: ## licences, sources and advisories of dependencies; with cargo deny as well, where it is installed
	cargo test --workspace --test dependencies
	tests/deny.sh

docs: ## the documentation of every crate, warnings denied
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

node: node-test ## millpond-node, the relay over QUIC, its tests and lints: in crates/node/target, a few minutes
	cd crates/node && cargo clippy --locked --all-targets -- -D warnings && cargo build --release --locked

node-test: ## the tests of millpond-node
	cd crates/node && cargo test --locked

soak: ## half an hour: nodes killed at 200 moments of transfers, 10 million inputs of their parsers; MILLPOND_SEED=2, MILLPOND_KILLS=50 choose others
	cd crates/node && cargo test --locked --test loopback --test parsers -- --ignored --nocapture

bench: ## packet-hops per CPU second against the bare loop
	cargo run --release --quiet --package millpond-bench

bench-peers: ## the same networks in htsim, whose sources HTSIM=path/to/csg-htsim names, and in ns-2, if it is installed
	benches/peers.py build
	cargo build --release --quiet --package millpond-bench
	benches/peers.py run target/release/millpond-bench

bench-growth: ## two minutes, on an idle machine, 2.5 GB: time per packet-hop and memory per flow from 10 to 100 000 flows, docs/growth.svg; MILLION=1: and a million, six minutes and 16 GB
	cargo build --release --quiet --package millpond-bench
	benches/growth.py target/release/millpond-bench docs/growth.svg 2 $(MILLION)

bench-kernel: ## five minutes: Reno, CUBIC and BBR of the kernel through millpond link beside the packet world
	cargo build --release --package millpond-cli
	benches/kernel.py target/release/millpond

bench-link: ## kernel TCP through millpond link: rate, lateness
	cargo build --release --package millpond-cli
	benches/link.py target/release/millpond

bench-node: ## three minutes, on an idle machine, as root: chains of nodes beside kernel CUBIC and BBR on the same links
	cargo build --release --package millpond-cli
	cd crates/node && cargo build --release --locked
	benches/node.py target/release/millpond crates/node/target/release/millpond-node 8 target/bench-node

bench-python: ## the Python package against its limits: import, runs, tables, laws, environments
	cargo build --release --package millpond-cli
	tests/install-venv.sh
	python3 -m venv .venv
	.venv/bin/pip install --quiet --disable-pip-version-check '.[all,gymnasium,numba]'
	.venv/bin/python benches/python.py target/release/millpond

bench-live: ## 8 minutes, on an idle machine: every protocol live and in packets, the table of docs/live.md
	cargo build --release --package millpond-cli
	benches/live.sh target/release/millpond

papers: ## every recipe on the papers' own grids
	$(MILLPOND) papers check --full

readings: ## half an hour of processor time or more: every row of the papers' recipes under every reading, into papers/*/readings.md
	cargo build --release --quiet --package millpond-cli
	tests/readings.sh

same-bytes: ## a run has the same bytes in debug and release builds, with one thread and two
	tests/same-bytes.sh

attack: ## 3600 random scenarios: what must hold in each, debug as release; KIND=loops NUMBER=17: one of them
	tests/attack.sh $(if $(NUMBER),$(or $(KIND),general) $(NUMBER))

reference: ## five minutes: the independent models whose numbers recipes cite
	python3 tests/reference/run.py
	python3 tests/mutants/test_run.py

mutants: ## 20 minutes: single faults of the equations, each of which recipes must notice
	python3 tests/mutants/run.py

scenario-reference: ## the key tables of docs/scenario.md and scenarios/scenario.schema.json, from the source
	cargo run --quiet --package millpond-scenario --example write_reference
