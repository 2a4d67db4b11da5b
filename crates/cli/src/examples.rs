//! Examples below the help of each command.

pub(crate) const MILLPOND: &str = "\
Examples:
  millpond new home.toml
  millpond run home.toml
  millpond compare home.toml --protocols cubic,bbr3 --seeds 5

Exit codes: 0 success; 1 a check failed; 2 invalid input; 130 interrupted.";

pub(crate) const RUN: &str = "\
Examples:
  millpond run scenarios/dumbbell.toml
  millpond run scenarios/dumbbell.toml --set duration=60s --seed 7 --out runs/dumbbell
  millpond run scenarios/dumbbell.toml --set duration=15s --out runs/short --qlog
  millpond run scenarios/dumbbell.toml --report dumbbell.html
  millpond run scenarios/dumbbell.toml --world fluid --json";

pub(crate) const NEW: &str = "\
Examples:
  millpond new home.toml
  millpond new home.toml --template parking-lot";

pub(crate) const CHECK: &str = "\
Examples:
  millpond check scenarios/dumbbell.toml
  millpond check scenarios/dumbbell.toml --world fluid";

pub(crate) const SCHEMA: &str = "\
Examples:
  millpond schema > scenario.schema.json
  millpond schema run";

pub(crate) const COMPARE: &str = "\
Examples:
  millpond compare scenarios/last-hop-5g.toml --protocols lgcc,cubic,newreno
  millpond compare scenarios/dumbbell.toml --protocols dctcp,cubic --seeds 10 --out runs
  millpond compare scenarios/dumbbell.toml --protocols dctcp,cubic --seeds 10 --out runs --resume
  millpond compare scenarios/beside-cubic.toml --queues droptail,codel,fq-codel,dualpi2
  millpond compare scenarios/beside-cubic.toml --harm one --protocols vegas,bbr3 --seeds 5
  millpond compare scenarios/dumbbell.toml --protocols xcp --deploy 0,25,50,75,100%
  millpond compare scenarios/dumbbell.toml --protocols xcp,cubic --perturb all --tornado tornado.svg
  millpond compare scenarios/dumbbell.toml --worlds packets,fluid";

pub(crate) const SWEEP: &str = "\
Examples:
  millpond sweep scenarios/dumbbell.toml --vary dumbbell.bottleneck.rate=10Mbps..1Gbps:log:5 \\
      --protocols lgcc,cubic --out rates
  millpond sweep scenarios/dumbbell.toml --vary dumbbell.bottleneck.delay=5ms,20ms,80ms \\
      --vary dumbbell.bottleneck.buffer=0.5bdp,1bdp,4bdp --seeds 10 --out buffers
  millpond sweep scenarios/dumbbell.toml --vary dumbbell.bottleneck.rate=1Mbps..1Gbps:log \\
      --samples 256 --out samples";

pub(crate) const EQUILIBRIUM: &str = "\
Examples:
  millpond equilibrium scenarios/parking-lot.toml
  millpond equilibrium scenarios/parking-lot.toml --utility alpha=2 --json";

pub(crate) const STABILITY: &str = "\
Examples:
  millpond stability scenarios/delay-margin.toml --critical rtt
  millpond stability scenarios/delay-margin.toml --map rtt=10ms..2s,flows=1..100 --report map.html
  millpond stability scenarios/delay-margin.toml --phase x,q --step near=80%
  millpond stability scenarios/delay-margin.toml --with-run --report margins.html --figures figures
  millpond stability --explain runs/dumbbell";

pub(crate) const SERVE: &str = "\
Examples:
  millpond serve
  millpond serve scenarios --port 8000";

pub(crate) const LINK: &str = "\
Examples:
  millpond link --rate 20Mbps --delay 15ms -- ./my-app
  millpond link --down my.down --up my.up --delay 20ms --queue codel -- ./my-app
  millpond link --rate 50Mbps --delay 5ms --queue fq-codel --server server.sh -- client.sh
  millpond link --rate 50Mbps --loss 1% -- millpond link --delay 30ms -- ./my-app";

pub(crate) const NODE: &str = "\
Examples:
  millpond node keys node.key
  millpond node node.toml --check
  millpond node node.toml";

pub(crate) const COEXISTENCE: &str = "\
Examples:
  millpond coexistence vegas
  millpond coexistence vegas --markdown
  millpond coexistence vegas --harm";

pub(crate) const FRONTIER: &str = "\
Examples:
  millpond frontier lte-short --rtt 50ms
  millpond frontier car.csv --protocols pledge,abc,xcp --target 50ms,100ms --report frontier.html";

pub(crate) const EVALUATE: &str = "\
Examples:
  millpond evaluate bbr3
  millpond evaluate bbr3 --suite bcp133 --report bbr3.html
  millpond evaluate vegas --section 5.2.1,6.1 --full
  millpond evaluate cubic --set protocols.tested.params.beta=0.5
  millpond evaluate fq-codel --suite aqm
  millpond evaluate cubic bbr3 --suite ./my-link
  millpond evaluate --all --suite bcp133 --matrix docs/evaluation-matrix.md";

pub(crate) const PROTOCOLS: &str = "\
Examples:
  millpond protocols
  millpond protocols lgcc";

pub(crate) const REPORT: &str = "\
Examples:
  millpond report runs --out report.html
  millpond report runs/one runs/two --out both.html --force";

pub(crate) const FIGURE: &str = "\
Examples:
  millpond figure runs --kind ccdf --out delay.pdf
  millpond figure runs --kind tradeoff --columns 2 --out tradeoff.svg
  millpond figure runs --kind over-time --run cubic --out cubic.pdf
  millpond figure my-sweep --kind sweep-delay --out delay-over-rate.pdf";

pub(crate) const PAPERS: &str = "\
Examples:
  millpond papers list
  millpond papers check lgcc --report lgcc.html
  millpond papers run lgcc/fig12 --full
  millpond papers readings mcp --json";

pub(crate) const PAPERS_LIST: &str = "\
Examples:
  millpond papers list
  millpond papers list lgcc --json";

pub(crate) const PAPERS_RUN: &str = "\
Examples:
  millpond papers run lgcc/fig12
  millpond papers run lgcc/fig12 --full --out runs/fig12 --report fig12.html
  millpond papers run own/fig1 --papers my-papers";

pub(crate) const PAPERS_CHECK: &str = "\
Examples:
  millpond papers check lgcc
  millpond papers check lgcc --report lgcc.html
  millpond papers check own/fig1 --papers my-papers
  millpond papers check lgcc --full --keep finished-runs";

pub(crate) const PAPERS_READINGS: &str = "\
Examples:
  millpond papers readings lgcc/fig12
  millpond papers readings mcp --json";

pub(crate) const TRACE: &str = "\
Examples:
  millpond trace generate --preset lte-car --duration 60s --seed 4 --out car.csv
  millpond trace stats car.csv";

pub(crate) const TRACE_GENERATE: &str = "\
Examples:
  millpond trace generate --preset 5g-static > demo.csv
  millpond trace generate --preset lte-car --duration 60s --seed 4 --out car.csv
  millpond trace generate --preset lte-car --mean 20Mbps --format mahimahi --out car.down";

pub(crate) const TRACE_STATS: &str = "\
Examples:
  millpond trace stats car.csv
  millpond trace stats car.down --json";

pub(crate) const COMPLETIONS: &str = "\
Examples:
  millpond completions bash > ~/.local/share/bash-completion/completions/millpond
  millpond completions zsh > ~/.zfunc/_millpond";

pub(crate) const MAN: &str = "\
Examples:
  millpond man > millpond.1
  millpond man compare > millpond-compare.1
  millpond man papers check > millpond-papers-check.1";
