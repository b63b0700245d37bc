//! The loop, its session and its journal in a world where everything goes wrong: a deterministic simulation.
//!
//! A run is a list of choices, made by a seed. The same choices give the same run, so a failure can be played again, cut
//! down to the choices that matter, and kept (`tests/fixtures/simulation`). `scripts/simulate` runs it for longer.

mod choices;
mod disk;
mod host;
mod model;
mod scene;
mod tools;
mod world;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use choices::{Choices, shrink};
use scene::{Played, Tally, play};
use world::Broken;

const FIXED_SEEDS: u64 = 400;
const CRASHED_SEEDS: u64 = 6;
const MUTANT_SEEDS: u64 = 3000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1)?.parse::<u64>().ok()
    };
    // What is checked here is caught and told; a panic's own words would drown it.
    std::panic::set_hook(Box::new(|_| ()));
    if let Some(at) = arguments.iter().position(|argument| argument == "--play") {
        let script: Vec<u32> = arguments[at + 1..].iter().filter_map(|choice| choice.parse().ok()).collect();
        let played = play(Choices::scripted(&script), Broken::Nothing, None);
        println!("{}", played.journal.join("\n"));
        return report(&played, "as given");
    }
    if let Some(seed) = number("--seed") {
        return report(&play(Choices::seeded(seed), Broken::Nothing, None), &seed.to_string());
    }
    let mut failed = 0;
    for (name, script) in fixtures() {
        let played = play(Choices::scripted(&script), Broken::Nothing, None);
        failed += u32::from(report(&played, &name) != ExitCode::SUCCESS);
    }
    failed += determined() + crashed_everywhere() + mutants();
    let (fixed, at_fixed) = seeds(0..FIXED_SEEDS, None);
    let fresh = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(1, |now| now.as_secs()) << 20;
    let seconds = number("--seconds").unwrap_or(5);
    let (runs, found) = seeds(fresh..u64::MAX, Some(Duration::from_secs(seconds)));
    failed += at_fixed.len() as u32 + found.len() as u32;
    let first = at_fixed.first().or(found.first()).map_or_else(|| "none".to_owned(), u64::to_string);
    println!("{} runs, {failed} violations, seed of the first: {first}", fixed + runs);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Plays seeds until there are no more, or the time is over; the failing ones come back.
fn seeds(seeds: std::ops::Range<u64>, time: Option<Duration>) -> (u64, Vec<u64>) {
    let (begun, mut runs, mut found, mut sum) = (Instant::now(), 0, Vec::new(), Tally::default());
    for seed in seeds {
        if time.is_some_and(|time| begun.elapsed() >= time) {
            break;
        }
        let played = play(Choices::seeded(seed), Broken::Nothing, None);
        runs += 1;
        add(&mut sum, &played.tally);
        if report(&played, &seed.to_string()) != ExitCode::SUCCESS {
            found.push(seed);
            if found.len() == 5 {
                break;
            }
        }
    }
    let rate = runs as u128 * 1000 / begun.elapsed().as_millis().max(1);
    println!("{runs} seeds, {rate} a second: {sum:?}");
    (runs, found)
}

fn add(sum: &mut Tally, one: &Tally) {
    sum.lines += one.lines;
    sum.models += one.models;
    sum.crashes += one.crashes;
    sum.power_cuts += one.power_cuts;
    sum.takeovers += one.takeovers;
    sum.lost += one.lost;
    sum.gateway_deaths += one.gateway_deaths;
    sum.full_disks += one.full_disks;
    sum.stops += one.stops;
    sum.checkpoints += one.checkpoints;
}

/// Tells of a failure, with the shortest list of choices that shows it.
fn report(played: &Played, name: &str) -> ExitCode {
    let Some(violation) = &played.violation else { return ExitCode::SUCCESS };
    println!("{name}: {violation}");
    let fails = |script: &[u32]| play(Choices::scripted(script), Broken::Nothing, None).violation.is_some();
    if fails(&played.choices) {
        let script = shrink(played.choices.clone(), fails);
        let again = play(Choices::scripted(&script), Broken::Nothing, None);
        let words: Vec<String> = script.iter().map(u32::to_string).collect();
        println!("  shortest: {}", again.violation.unwrap_or_default());
        println!("  as a fixture: {}", words.join(" "));
    }
    ExitCode::FAILURE
}

/// The same seed gives the same run.
fn determined() -> u32 {
    let differs = |seed: &u64| {
        let [one, other] = [(); 2].map(|()| play(Choices::seeded(*seed), Broken::Nothing, None));
        let scripted = play(Choices::scripted(&one.choices), Broken::Nothing, None);
        one.trace != other.trace || one.trace != scripted.trace
    };
    let differing = (0..20).filter(differs).count();
    println!("20 seeds played three times: {differing} differ");
    differing as u32
}

/// A page crashes at each single thing it does.
fn crashed_everywhere() -> u32 {
    let (mut runs, mut failed) = (0, 0);
    for seed in 0..CRASHED_SEEDS {
        let mut at = 1;
        loop {
            let played = play(Choices::seeded(seed), Broken::Nothing, Some(at));
            runs += 1;
            if let Some(violation) = &played.violation {
                println!("seed {seed}, crashed at {at}: {violation}");
                failed += 1;
            }
            at += 1;
            if at > 240 {
                break;
            }
        }
    }
    println!("{runs} runs crashed at one deed after another: {failed} violations");
    failed
}

/// Each rule, broken on purpose, is noticed.
fn mutants() -> u32 {
    let mut missed = 0;
    for broken in Broken::ALL {
        let caught =
            (0..MUTANT_SEEDS).find_map(|seed| Some((seed, play(Choices::seeded(seed), broken, None).violation?)));
        match caught {
            Some((seed, words)) => println!("{broken:?} broken: noticed at seed {seed}: {words}"),
            None => {
                println!("{broken:?} broken: not noticed in {MUTANT_SEEDS} seeds");
                missed += 1;
            }
        }
    }
    missed
}

fn fixtures() -> Vec<(String, Vec<u32>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/simulation");
    let mut found: Vec<(String, Vec<u32>)> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|file| {
            let path = file.ok()?.path();
            let text = std::fs::read_to_string(&path).ok()?;
            let script = text.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
            let name = path.file_stem()?.to_string_lossy().into_owned();
            Some((name, script.filter_map(|choice| choice.parse().ok()).collect()))
        })
        .collect();
    found.sort();
    found
}
