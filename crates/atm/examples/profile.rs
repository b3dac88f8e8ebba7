//! CPU time per cell and hop, with greedy channels in both directions over a line of switches.
//! `cargo run --release -p atm --example profile -- [channels] [switches] [seconds]`

use std::str::FromStr;

use atm::{AbrParameters, AllocationConfig, AtmConfig, AtmNetwork, ChannelConfig, EndConfig, IpService, PortConfig};
use base::cast::{to_u32, trunc_to_u64};
use base::{Clock, Packet, Time};
use cpu_time::ThreadTime;

fn port(name: &str) -> PortConfig {
    let allocation = AllocationConfig::TwoPass { utilization: 1.0 };
    let name = name.to_owned();
    PortConfig { name, rate_bps: 155.52e6, delay_s: 0.001, buffer_cells: None, efci_cells: None, allocation }
}

fn line(channels: usize, switches: usize) -> AtmConfig {
    let mut config = AtmConfig::default();
    for _ in 1..switches {
        config.ports.extend([port("there"), port("back")]);
    }
    let end = EndConfig { abr: AbrParameters::two_way(155.52e6), ip_service: IpService::ChannelRate };
    for _ in 0..channels {
        let first = config.ports.len();
        config.ports.extend((0..4).map(|_| port("access")));
        let forward = [first].into_iter().chain((1..switches).map(|trunk| 2 * trunk - 2)).chain([first + 1]).collect();
        let backward =
            [first + 2].into_iter().chain((1..switches).rev().map(|trunk| 2 * trunk - 1)).chain([first + 3]).collect();
        config.channels.push(ChannelConfig { name: "line".to_owned(), forward, backward, near: end, far: end });
    }
    config
}

/// Returns an argument of the command line, or `default` if it is not given.
fn argument<T: FromStr>(position: usize, default: T) -> T {
    std::env::args().nth(position).and_then(|word| word.parse().ok()).unwrap_or(default)
}

fn main() {
    let channels = argument(1, 3);
    let switches = argument(2, 2);
    let seconds = argument(3, 5.0);
    let config = line(channels, switches);
    let mut network = AtmNetwork::new(&config, Clock::PICOSECONDS);
    let packets = trunc_to_u64(seconds * 155.52e6 / 80_000.0);
    for end in 0..2 * to_u32(channels) {
        let packet = |sequence| Packet { sequence, bytes: 9220, ..Packet::default() };
        (0..packets).for_each(|sequence| network.offer(Time::ZERO, end, packet(sequence)));
    }
    let clock = ThreadTime::now();
    let mut delivered = 0;
    while network.advance(Clock::PICOSECONDS.time(seconds)).is_some() {
        delivered += 1;
    }
    let spent = clock.elapsed().as_secs_f64();
    let hops: u64 = (0..config.ports.len()).map(|port| network.port_statistics(port).arrived).sum();
    println!("{delivered} packets, {hops} cells and hops, {} events", network.events_handled());
    println!(
        "{:.1} ns a cell and hop, {:.1} ns an event",
        spent / hops as f64 * 1e9,
        spent / network.events_handled() as f64 * 1e9
    );
}
