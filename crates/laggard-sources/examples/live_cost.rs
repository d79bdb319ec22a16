//! Measures the cost of a sample: `live_cost SAMPLES CONNECTIONS [all]` opens CONNECTIONS connections over the
//! loopback, samples the host every 100 ms, and prints the processor time and memory used.
#![allow(clippy::print_stdout)]

use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use laggard_sources::live::clock::ClockAccount;
use laggard_sources::live::connection::Filter;
use laggard_sources::live::host;
use laggard_sources::live::sampler::{Options, Sampler};
use laggard_sources::live::selection::Selection;
use laggard_sources::live::traffic::Bounds;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let samples: u32 = arguments.next().ok_or("how many samples?")?.parse()?;
    let connections: usize = arguments.next().ok_or("how many connections?")?.parse()?;
    let patterns: Vec<&str> = if arguments.next().is_some() { vec!["*"] } else { Vec::new() };
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let open = |_| Ok::<_, std::io::Error>((TcpStream::connect(address)?, listener.accept()?.0));
    let _kept = (0..connections).map(open).collect::<Result<Vec<_>, _>>()?;
    let mut sampler = Sampler::new(Options {
        host: "host".into(),
        procfs: "/proc".into(),
        devices: Selection::of(&patterns)?,
        interfaces: Selection::default(),
        sockets: Some((Filter { loopback: true, ..Filter::default() }, Bounds::default())),
        netns: None,
        without: vec![],
    })?;
    sampler.sample(host::now());
    let before = host::cpu_time();
    for _ in 0..samples {
        std::thread::sleep(Duration::from_millis(100));
        sampler.sample(host::now());
    }
    let each = (host::cpu_time().micros() - before.micros()) as f64 / f64::from(samples);
    println!("{each:.0} us of processor time a sample");
    for table in sampler.tables() {
        println!("{:5} rows of {}", table.len(), table.schema().name);
    }
    for account in sampler.accounts() {
        println!("{:5} us for {}", account.read_us / u64::from(samples + 1), account.source);
    }
    sampler.account(host::now(), ClockAccount::default());
    let status = std::fs::read_to_string("/proc/self/status")?;
    status
        .lines()
        .filter(|line| line.starts_with("VmHWM") || line.starts_with("VmRSS"))
        .for_each(|l| println!("{l}"));
    Ok(())
}
