//! laggard: which component slows this storage system down, and why?
//!
//! One file per command under `commands`; this one owns the command line and the exit status.

mod arguments;
mod atomic_file;
mod commands;
mod failure;
mod method_options;
mod output;
mod progress;
mod scores_file;
mod stop_signal;
mod timeframe;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use failure::Outcome;

/// Finds the component that slows a storage system down, and shows the evidence.
///
/// laggard compares peers: striping makes healthy servers, disks and links behave alike, so the one that
/// behaves differently is the suspect. It needs no change to the file system, the applications or the kernel.
#[derive(Parser)]
#[command(name = "laggard", version, propagate_version = true, arg_required_else_help = true, after_help = AFTER)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const AFTER: &str = "\
Examples:
  laggard demo                                   see it find a fault in a simulated cluster, in a few seconds
  laggard record -o data --for 10m               record this host's disks, network and TCP links
  laggard import /var/log/sysstat/sa* -o data    import the files of sysstat
  laggard tables data                            list the contents of a dataset
  laggard show data await --every 15s            a metric of every disk
  laggard diagnose data                          which component slows the system down, and why

Exit status: 0 done, 1 suspects (diagnose --exit-code), 2 usage or input error, 3 something is missing on this machine, 4 data too poor to evaluate.";

#[derive(Subcommand)]
enum Command {
    Demo(commands::demo::Demo),
    Record(commands::record::Record),
    Import(commands::import::Import),
    Tables(commands::tables::Tables),
    Show(commands::show::Show),
    Train(commands::train::Train),
    Diagnose(commands::diagnose::Diagnose),
    Power(commands::power::Power),
    Rank(commands::rank::Rank),
    Feedback(commands::feedback::Feedback),
    Eval(commands::eval::Eval),
    Cluster(commands::cluster::Cluster),
    Metrics(commands::metrics::Metrics),
    Simulate(commands::simulate::Simulate),
    Lab(commands::lab::Lab),
    Inject(commands::inject::Inject),
    Logs(commands::logs::Logs),
    Trace(commands::trace::Trace),
    Work(commands::work::Work),
    Campaign(commands::campaign::Campaign),
    Probe(commands::probe::Probe),
    #[command(hide = true)]
    Guard(commands::inject::Guard),
    Man(commands::man::Man),
    Completions(commands::completions::Completions),
}

/// The commands as `laggard --help` groups them.
const GROUPS: [(&str, &[&str]); 3] = [
    (
        "Operate",
        &[
            "demo",
            "record",
            "import",
            "tables",
            "show",
            "metrics",
            "cluster",
            "diagnose",
            "power",
            "train",
            "rank",
            "feedback",
            "man",
            "completions",
        ],
    ),
    ("Trace", &["trace"]),
    ("Test", &["simulate", "eval", "lab", "inject", "campaign", "work", "probe", "logs"]),
];

/// The command line, with the commands of the help in their groups.
fn command_line() -> clap::Command {
    let command = Arguments::command();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}Options:\n{{options}}{{after-help}}",
        groups(&command)
    );
    command.help_template(template)
}

fn groups(command: &clap::Command) -> String {
    let line = |name: &&str| {
        let about = command.find_subcommand(name).and_then(clap::Command::get_about);
        format!("  {name:<12} {}\n", about.map(ToString::to_string).unwrap_or_default())
    };
    let group = |(title, names): &(&str, &[&str])| {
        format!("{title}:\n{}\n", names.iter().map(line).collect::<String>())
    };
    GROUPS.iter().map(group).collect()
}

fn main() -> ExitCode {
    failure::hush_foreign_panics();
    let matches = command_line().get_matches();
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    failure::exit_status(run(arguments.command))
}

fn run(command: Command) -> Outcome {
    match command {
        Command::Demo(demo) => demo.run(),
        Command::Record(record) => record.run(),
        Command::Import(import) => import.run(),
        Command::Tables(tables) => tables.run(),
        Command::Show(show) => show.run(),
        Command::Train(train) => train.run(),
        Command::Diagnose(diagnose) => diagnose.run(),
        Command::Power(power) => power.run(),
        Command::Rank(rank) => rank.run(),
        Command::Feedback(feedback) => feedback.run(),
        Command::Eval(eval) => eval.run(),
        Command::Cluster(cluster) => cluster.run(),
        Command::Metrics(metrics) => metrics.run(),
        Command::Simulate(simulate) => simulate.run(),
        Command::Lab(lab) => lab.run(),
        Command::Inject(inject) => inject.run(),
        Command::Guard(guard) => guard.run(),
        Command::Logs(logs) => logs.run(),
        Command::Trace(trace) => trace.run(),
        Command::Work(work) => work.run(),
        Command::Campaign(campaign) => campaign.run(),
        Command::Probe(probe) => probe.run(),
        Command::Man(man) => man.run(),
        Command::Completions(completions) => completions.run(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laggard_core::model::schema::{SCHEMAS, Values};

    const DOCUMENTS: [&str; 16] = [
        include_str!("../../../README.md"),
        include_str!("../../../docs/recording.md"),
        include_str!("../../../docs/importing.md"),
        include_str!("../../../docs/dataset.md"),
        include_str!("../../../docs/cluster-file.md"),
        include_str!("../../../docs/simulation.md"),
        include_str!("../../../docs/training.md"),
        include_str!("../../../docs/operating.md"),
        include_str!("../../../docs/diagnosis.md"),
        include_str!("../../../docs/lab.md"),
        include_str!("../../../docs/inject.md"),
        include_str!("../../../docs/tracing.md"),
        include_str!("../../../docs/trace-analysis.md"),
        include_str!("../../../docs/trace-formats.md"),
        include_str!("../../../docs/logs.md"),
        include_str!("../../../docs/campaign.md"),
    ];

    /// Lines such as `    laggard show data await   # a remark`, as the words of a command line.
    fn commands(text: &str) -> Vec<Vec<String>> {
        let lines = text
            .lines()
            .filter(|line| line.starts_with("  "))
            .map(str::trim)
            .filter(|line| line.starts_with("laggard "));
        let command = |line: &str| {
            line.split(['|', '>', '#', ';']).next().unwrap_or("").split("  ").next().unwrap().to_owned()
        };
        let words =
            |line: String| line.split_whitespace().map(|word| word.trim_matches('\'').to_owned()).collect();
        lines.map(command).map(words).collect()
    }

    #[test]
    fn every_command_in_the_documents_and_the_help_is_understood() {
        let mut help = vec![AFTER.to_owned()];
        let mut left = vec![Arguments::command()];
        while let Some(command) = left.pop() {
            help.extend(command.get_after_help().map(ToString::to_string));
            left.extend(command.get_subcommands().cloned());
        }
        let texts = DOCUMENTS.iter().map(ToString::to_string).chain(help);
        let all: Vec<Vec<String>> = texts.flat_map(|text| commands(&text)).collect();
        assert!(all.len() > 20);
        for words in all {
            let outcome = Arguments::try_parse_from(&words);
            assert!(outcome.is_ok(), "{}: {}", words.join(" "), outcome.err().unwrap());
        }
    }

    #[test]
    fn the_documents_list_every_table_with_its_columns() {
        for table in SCHEMAS.iter().filter(|table| table.values == Values::Counts) {
            let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
            let line = DOCUMENTS[3].lines().find(|line| line.starts_with(&format!("| `{}` |", table.name)));
            assert!(
                line.is_some_and(|line| line.contains(&columns.join(" "))),
                "{}: {}",
                table.name,
                columns.join(" ")
            );
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        command_line().debug_assert();
    }

    #[test]
    fn every_command_is_in_one_group_of_the_help() {
        let visible = Arguments::command();
        let mut visible: Vec<&str> =
            visible.get_subcommands().filter(|one| !one.is_hide_set()).map(clap::Command::get_name).collect();
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        visible.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, visible);
    }
}
