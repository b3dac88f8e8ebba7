//! One channel between two hosts: rates, delays, losses, queues.

use crate::outside::common::{ack, greedy, run_until, segment, two_hosts};
use atm::{AtmConfig, AtmNetwork, IpService, TraceConfig};
use base::cast::trunc_to_u64;
use base::{Clock, Time};

/// The user gets the rate without headers, the trailer, and RM cells of both directions: [two-way, section 5.2],
/// "about 131 Mbit/s" of 155.52.
#[test]
fn a_greedy_source_gets_30_cells_of_32_where_both_ways_carry_data() {
    let mut network = AtmNetwork::new(&two_hosts(155.52e6, 0.008), Clock::PICOSECONDS);
    for end in [0, 1] {
        greedy(&mut network, end, 30_000);
    }
    let arrived = |arrivals: Vec<atm::Arrival>| arrivals.iter().filter(|arrival| arrival.end == 1).count() as f64;
    run_until(&mut network, 1.0);
    let rate = arrived(run_until(&mut network, 11.0)) * 9180.0 * 8.0 / 10.0;
    println!("user data: {:.3} Mbit/s", rate / 1e6);
    // A segment more or less in ten seconds is 0.0056%.
    assert!((rate - 130.85e6).abs() < 0.02e6, "{rate}");
}

/// The user gets 31 cells of 32 if the other direction carries no data, less the RM cells for that direction.
#[test]
fn a_greedy_source_alone_gets_31_cells_of_32_and_a_little_less() {
    let mut network = AtmNetwork::new(&two_hosts(155.52e6, 0.008), Clock::PICOSECONDS);
    greedy(&mut network, 0, 30_000);
    run_until(&mut network, 1.0);
    let rate = run_until(&mut network, 11.0).len() as f64 * 9180.0 * 8.0 / 10.0;
    // The other side sends a backward RM cell for each 32 cells, and a forward one of its own after each 31 of those.
    let expected = 155.52e6 * 9180.0 / 10_229.0 * (31.0 / 32.0 - 1.0 / (32.0 * 31.0));
    println!("user data alone: {:.3} Mbit/s, expected {:.3}", rate / 1e6, expected / 1e6);
    assert!((rate / expected - 1.0).abs() < 2e-4, "{rate} {expected}");
}

/// [notes on two-way]: "A greedy source over a 16 ms loop reaches PCR in about 70 ms."
#[test]
fn a_greedy_source_comes_from_a_50th_of_pcr_to_pcr_in_about_70_ms() {
    let mut config = two_hosts(155.52e6, 0.008);
    config.trace = TraceConfig { acr: true, ..TraceConfig::default() };
    let mut network = AtmNetwork::new(&config, Clock::PICOSECONDS);
    greedy(&mut network, 0, 1000);
    run_until(&mut network, 0.5);
    let traces = network.finish();
    let near = || traces.acr.iter().filter(|row| row.index == 0);
    let reached = near().find(|row| row.value == 155.52e6).map(|row| Clock::PICOSECONDS.seconds(row.time));
    println!("PCR after {:.1} ms", reached.unwrap_or(f64::NAN) * 1e3);
    assert_eq!(near().next().map(|row| (row.time, row.value)), Some((Time::ZERO, 155.52e6 / 50.0)));
    assert!(reached.is_some_and(|at| (0.06..0.08).contains(&at)), "{reached:?}");
    assert!(near().zip(near().skip(1)).all(|(before, after)| before.value < after.value));
}

/// Store and forward happens once: a segment arrives after the time of 193 cells and their RM cells, and the
/// propagation delay.
#[test]
fn a_segment_takes_the_time_of_its_cells_and_the_propagation() {
    let mut config = two_hosts(155.52e6, 0.008);
    config.channels[0].near.abr.icr_bps = 155.52e6;
    let mut network = AtmNetwork::new(&config, Clock::PICOSECONDS);
    network.offer(Time::ZERO, 0, segment(7));
    let arrival = network.advance(Time::NEVER).expect("it arrives");
    // 193 data cells, an RM cell before each 31.
    let cells = 193 + 193_u64.div_ceil(31);
    assert_eq!(
        arrival.time,
        atm::cell_time(155.52e6, Clock::PICOSECONDS).times(cells) + Clock::PICOSECONDS.time(0.008)
    );
    assert_eq!((arrival.end, arrival.packet, arrival.intact), (1, segment(7), true));
}

/// Each cell sent is received, in flight, or dropped; each packet offered is delivered, lost, or in flight.
#[test]
fn cells_and_packets_are_conserved() {
    for buffer in [None, Some(20), Some(60)] {
        let mut config = two_hosts(155.52e6, 0.001);
        // The peak rate is above the link's, and there are no explicit rates: the port overflows.
        config.channels[0].near.abr.pcr_bps = 170e6;
        config.ports.iter_mut().for_each(|port| {
            (port.buffer_cells, port.allocation) = (buffer, atm::AllocationConfig::None {});
        });
        let mut network = AtmNetwork::new(&config, Clock::PICOSECONDS);
        greedy(&mut network, 0, 3000);
        greedy(&mut network, 1, 700);
        let mut last = 0;
        for part in 1..40 {
            for arrival in run_until(&mut network, f64::from(part) * 0.0037) {
                if arrival.end == 1 {
                    assert_eq!(arrival.packet.sequence, last, "each packet is reported once, in order");
                    last += 1;
                }
            }
            for (port, in_flight) in cells_in_flight(&network).into_iter().enumerate() {
                let queue_max = network.port_statistics(port).queue_max;
                assert!(in_flight <= queue_max + trunc_to_u64(0.001 * 155.52e6 / 424.0) + 1, "{in_flight} {queue_max}");
                assert!(buffer.is_none_or(|cells| queue_max <= cells));
            }
        }
        let ends = [network.end_statistics(0), network.end_statistics(1)];
        println!("buffer {buffer:?}: {:?} {:?}", ends[1], network.port_statistics(0));
        assert_eq!(ends[1].lost > 0, buffer.is_some());
        assert_eq!(ends[1].lost + ends[1].delivered, last);
        // There is no loss without a drop, and no more losses than dropped cells and packets corrupted by those before.
        assert!(ends[1].lost <= 2 * network.port_statistics(0).dropped);
        assert_eq!(ends[0].lost, 0);
        run_until(&mut network, 10.0);
        assert_eq!(cells_in_flight(&network), [0, 0]);
    }
}

/// Counts the cells that were sent, and neither received nor dropped, by port.
fn cells_in_flight(network: &AtmNetwork) -> [u64; 2] {
    let ends = [network.end_statistics(0), network.end_statistics(1)];
    [0, 1].map(|port| {
        let (from, to) = (ends[port], ends[1 - port]);
        let counts = network.port_statistics(port);
        assert_eq!(from.data_sent + from.forward_sent + from.backward_sent, counts.arrived);
        let received = to.data_received + to.forward_received + to.backward_received;
        counts.arrived.checked_sub(received + counts.dropped).expect("no cell appears from nowhere")
    })
}

fn recorded(trace: TraceConfig, slices: u32) -> (Vec<atm::Arrival>, atm::Traces) {
    let mut config: AtmConfig = two_hosts(155.52e6, 0.002);
    config.ports[0].buffer_cells = Some(40);
    config.trace = trace;
    let mut network = AtmNetwork::new(&config, Clock::PICOSECONDS);
    greedy(&mut network, 0, 500);
    let mut arrivals = Vec::new();
    for slice in 1..=slices {
        let until = 0.3 * f64::from(slice) / f64::from(slices);
        while let Some(arrival) = network.advance(Clock::PICOSECONDS.time(until)) {
            network.offer(arrival.time, arrival.end, ack(arrival.packet.sequence));
            arrivals.push(arrival);
        }
    }
    (arrivals, network.finish())
}

#[test]
fn observers_and_slices_change_nothing() {
    let all = TraceConfig { acr: true, ip_queue: true, cell_queue: true, drops: true, overview: None };
    let (plain, nothing) = recorded(TraceConfig::default(), 1);
    let (observed, traces) = recorded(all, 97);
    assert_eq!(plain, observed);
    assert_eq!(nothing, atm::Traces::default());
    assert_eq!(traces, recorded(all, 1).1);
    assert!(!traces.acr.is_empty() && !traces.ip_queue_data.is_empty() && !traces.cell_queue.is_empty());
}

/// The IP service decides where packets wait; it does not change their arrivals, unless it has a rate of its own.
#[test]
fn the_ip_service_says_where_packets_wait() {
    let run = |service| {
        let mut config = two_hosts(155.52e6, 0.002);
        config.trace.ip_queue = true;
        config.channels[0].near.ip_service = service;
        let mut network = AtmNetwork::new(&config, Clock::PICOSECONDS);
        greedy(&mut network, 0, 20);
        let arrivals = run_until(&mut network, 1.0);
        let traces = network.finish();
        let most = |rows: &[atm::Row]| rows.iter().map(|row| row.value).fold(0.0, f64::max);
        (arrivals, most(&traces.ip_queue_data), most(&traces.ip_queue), most(&traces.atm_queue))
    };
    let (at_channel_rate, data, ip, atm) = run(IpService::ChannelRate);
    assert_eq!((at_channel_rate.len(), data, ip, atm), (20, 20.0, 20.0, 0.0));
    let (immediate, data, ip, atm) = run(IpService::Immediate);
    assert_eq!((data, ip, atm), (20.0, 0.0, 20.0));
    assert_eq!(immediate, at_channel_rate);
    // At 10 Mbit/s the IP queue is the bottleneck, once the channel's rate is higher.
    let (slow, _, ip, atm) = run(IpService::RateBps(10e6));
    assert_eq!(ip, 20.0);
    assert!(atm <= 4.0, "{atm}");
    let spacing = slow[19].time - slow[18].time;
    assert!((Clock::PICOSECONDS.seconds(spacing) - 9220.0 * 8.0 / 10e6).abs() < 20e-6, "{spacing:?}");
}

/// EFCI marks of a port limit a source without explicit rates.
#[test]
fn marks_hold_the_rate_below_the_link() {
    let mut config = two_hosts(155.52e6, 0.001);
    config.channels[0].near.abr.pcr_bps = 300e6;
    config.channels[0].near.abr.icr_bps = 50e6;
    // Small factors: some twenty RM cells return in a round trip, and all of them carry the same congestion.
    config.channels[0].near.abr.rif = 1.0 / 1024.0;
    config.channels[0].near.abr.rdf = 1.0 / 1024.0;
    config.ports.iter_mut().for_each(|port| port.allocation = atm::AllocationConfig::None {});
    config.ports[0].efci_cells = Some(50);
    let mut network = AtmNetwork::new(&config, Clock::PICOSECONDS);
    greedy(&mut network, 0, 20_000);
    run_until(&mut network, 5.0);
    let counts = network.port_statistics(0);
    println!("longest queue {} cells, {:?}", counts.queue_max, network.end_statistics(1));
    // The rate overshoots for a round trip of 2 ms at most at twice the link's rate: 2 * 733 cells, and what is sent in
    // the decrease.
    assert!(counts.queue_max < 3000, "{counts:?}");
    let user = network.end_statistics(1).data_received as f64 * 424.0 / 5.0;
    assert!(user > 0.85 * 155.52e6, "{user}");
}
