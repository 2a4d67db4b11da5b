//! `make bench`: packet-hops per CPU second, their ratio to a bare loop in the same run, instructions per
//! packet-hop, peak memory, and the state of the networks at the end.
//!
//! Each case runs in a process of its own, so that its memory can be measured; this program starts itself for that:
//! `millpond-bench run NAME SECONDS`, `millpond-bench periodic NAME SECONDS` (without random processing times),
//! `millpond-bench bare NAME SECONDS`. `millpond-bench fluid FLOWS LINKS SECONDS` runs
//! a large network of the fluid world alone, of any size, or with a fourth number on so many threads; `millpond-bench many FLOWS SECONDS` one of the packet world whose
//! capacity grows with the number of its flows. `millpond-bench describe NAME` prints a case for the programs of other
//! simulators in `benches/peers`. `millpond-bench fat-tree` runs a data centre, which `millpond-bench describe fat-tree` prints.

mod bare;
mod cases;
mod fat_tree;
mod judged;
mod large;
mod measure;

use cases::Case;
use millpond_sim::PacketNetwork;
use millpond_units::{Span, Time};
use mimalloc::MiMalloc;
use std::env;
use std::error::Error;
use std::process::Command;

/// The allocator of the `millpond` command.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The number of repetitions. The smallest time counts, because other load of the machine only adds to it.
const REPEATS: usize = 3;

/// Callgrind counts instructions of this share of a case's duration, because it takes fifty times as long as the run
/// itself. The cost of a hop differs by less than 3 % between this part and the whole.
const COUNTED_SHARE: u64 = 8;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        [] => bench(&cases::all()).and_then(|()| bench_fluid()).and_then(|()| judged::bench()),
        ["stability"] => judged::bench(),
        ["fluid", flows, links, seconds] => {
            let (flows, links, seconds) = (flows.parse()?, links.parse()?, seconds.parse()?);
            large::run(large::Size { flows, links, seconds }, None)
        }
        ["fluid", flows, links, seconds, threads] => {
            let (flows, links, seconds) = (flows.parse()?, links.parse()?, seconds.parse()?);
            large::run(large::Size { flows, links, seconds }, Some(threads.parse()?))
        }
        [mode @ ("run" | "periodic" | "bare"), name, seconds] => {
            let case = case_named(name)?.lasting(Span::from_secs(seconds.parse()?));
            let case = Case { is_random: mode == "run", ..case };
            if mode == "bare" { run_bare(&case) } else { run(&case) }
        }
        ["fat-tree"] => fat_tree::run(),
        ["describe", "fat-tree"] => fat_tree::describe(),
        ["describe", name] => {
            println!("{}", case_named(name)?.describe()?);
            Ok(())
        }
        ["many", flows, seconds] => {
            run(&cases::many(flows.parse()?).lasting(Span::from_secs(seconds.parse()?)))
        }
        _ => Err(
            "usage: millpond-bench [run|periodic|bare NAME SECONDS | describe NAME | fat-tree | describe fat-tree | many FLOWS SECONDS | fluid FLOWS LINKS SECONDS [THREADS] | stability]"
                .into(),
        ),
    }
}

fn case_named(name: &str) -> Result<Case, &'static str> {
    cases::all().into_iter().find(|case| case.name == name).ok_or("no such case")
}

/// Runs all cases and prints the table. A periodic network has no random processing times.
fn bench(cases: &[Case]) -> Outcome<()> {
    println!(
        "                               packet-      packet-hops per CPU second               instructions per hop        peak"
    );
    println!(
        "case                              hops   millpond  periodic    bare  to bare   millpond periodic bare     memory"
    );
    for case in cases {
        let (run, periodic, bare) = (best("run", case)?, best("periodic", case)?, best("bare", case)?);
        println!(
            "{:3} {:24} {:6.1} M  {:7.2} M {:7.2} M {:7.2} M  {:6.2}  {:>8} {:>8} {:>4}  {:7.0} MB",
            case.name,
            case.what,
            run.hops / 1e6,
            run.per_second() / 1e6,
            periodic.per_second() / 1e6,
            bare.per_second() / 1e6,
            run.per_second() / bare.per_second(),
            instructions("run", case),
            instructions("periodic", case),
            instructions("bare", case),
            run.megabytes,
        );
        println!("    {}", run.behaviour);
    }
    Ok(())
}

/// Runs large networks of the fluid world and prints the table.
fn bench_fluid() -> Outcome<()> {
    println!("{}", large::HEADING);
    for size in large::Size::SHORT {
        let words = [size.flows.to_string(), size.links.to_string(), size.seconds.to_string()];
        let output = Command::new(env::current_exe()?).arg("fluid").args(words).output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
        print!("{}", String::from_utf8_lossy(&output.stdout));
    }
    Ok(())
}

/// The fastest of some runs.
fn best(mode: &str, case: &Case) -> Outcome<Report> {
    let runs: Vec<Report> = (0..REPEATS).map(|_| child(mode, case)).collect::<Outcome<_>>()?;
    Ok(runs.into_iter().min_by(|a, b| a.cpu.total_cmp(&b.cpu)).ok_or("no run at all")?)
}

/// The results of one run, on one line.
struct Report {
    hops: f64,
    cpu: f64,
    megabytes: f64,
    behaviour: String,
}

impl Report {
    fn per_second(&self) -> f64 {
        self.hops / self.cpu
    }

    fn print(&self) {
        println!("{} {} {} {}", self.hops, self.cpu, self.megabytes, self.behaviour);
    }

    fn read(line: &str) -> Option<Self> {
        let mut words = line.trim().splitn(4, ' ');
        let mut number = || words.next()?.parse().ok();
        let (hops, cpu, megabytes) = (number()?, number()?, number()?);
        Some(Self { hops, cpu, megabytes, behaviour: words.next().unwrap_or_default().to_owned() })
    }
}

/// Runs this program for one case in a process of its own.
fn child(mode: &str, case: &Case) -> Outcome<Report> {
    let seconds = case.duration.secs().to_string();
    let output = Command::new(env::current_exe()?).args([mode, case.name, &seconds]).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(Report::read(&String::from_utf8_lossy(&output.stdout)).ok_or("a run did not report")?)
}

/// Instructions per packet-hop as printed.
fn instructions(mode: &str, case: &Case) -> String {
    count_instructions(mode, case).map_or_else(|| "valgrind?".into(), |count| format!("{count:.0}"))
}

/// Instructions per packet-hop, counted by callgrind; none if valgrind is not installed.
fn count_instructions(mode: &str, case: &Case) -> Option<f64> {
    let seconds = (case.duration / COUNTED_SHARE).secs().to_string();
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(env::current_exe().ok()?)
        .args([mode, case.name, &seconds])
        .output()
        .ok()?;
    let hops = Report::read(&String::from_utf8_lossy(&output.stdout))?.hops;
    let output = String::from_utf8_lossy(&output.stderr).into_owned();
    let count: f64 = output.rsplit_once("Collected :")?.1.split_whitespace().next()?.parse().ok()?;
    Some(count / hops)
}

/// Runs one case and reports.
fn run(case: &Case) -> Outcome<()> {
    let mut network = case.network()?;
    let end = Time::ZERO + case.duration;
    let before = measure::cpu_seconds().ok_or("no /proc/self/schedstat")?;
    network.run_to(case.warm_up.min(end));
    network.start_measuring();
    network.run_to(end);
    let cpu = measure::cpu_seconds().ok_or("no /proc/self/schedstat")? - before;
    let megabytes = measure::peak_megabytes().ok_or("no /proc/self/status")?;
    Report { hops: network.packet_hops() as f64, cpu, megabytes, behaviour: behaviour(case, &network) }
        .print();
    Ok(())
}

/// Runs the bare loop of one case and reports.
fn run_bare(case: &Case) -> Outcome<()> {
    let before = measure::cpu_seconds().ok_or("no /proc/self/schedstat")?;
    let hops = bare::run(case) as f64;
    let cpu = measure::cpu_seconds().ok_or("no /proc/self/schedstat")? - before;
    let megabytes = measure::peak_megabytes().ok_or("no /proc/self/status")?;
    Report { hops, cpu, megabytes, behaviour: String::new() }.print();
    Ok(())
}

/// A summary after the warm-up: of each trunk, and of each kind of user.
fn behaviour(case: &Case, network: &PacketNetwork) -> String {
    let trunks = network.links().step_by(2).take(case.trunks.len()).map(|trunk| {
        let queue = trunk.queue_lengths();
        let counters = trunk.counters();
        format!(
            "utilization {:.4}, queue mean {:.0} max {} packets, drops {}, marks {}",
            trunk.utilization(),
            queue.mean(),
            queue.max(),
            counters.drops(),
            counters.marks,
        )
    });
    let mut flows = network.flows();
    let users = case.users.iter().map(|users| {
        let kind: Vec<_> = flows.by_ref().take(users.count as usize).collect();
        let goodputs: Vec<f64> = kind.iter().map(|flow| flow.delivered_measured().as_f64()).collect();
        let windows = kind.iter().filter_map(|flow| flow.first().sender().window());
        let window = windows.map(|window| window.as_f64()).sum::<f64>() / goodputs.len() as f64;
        format!("window {:.1}, Jain {:.4}", window / cases::PACKET.as_f64(), jain(&goodputs))
    });
    trunks.chain(users).collect::<Vec<_>>().join("; ")
}

/// Jain's index of fairness: (sum x)^2 / (n sum x^2).
fn jain(x: &[f64]) -> f64 {
    let (sum, squares) = (x.iter().sum::<f64>(), x.iter().map(|x| x * x).sum::<f64>());
    sum * sum / (x.len() as f64 * squares)
}
