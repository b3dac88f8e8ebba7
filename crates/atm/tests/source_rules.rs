//! TM 4.0 sections 5.10.4 and 5.10.5, rule by rule.

use atm::{cell_time, AbrParameters, AbrSource, Destination, InRate, RmCell, Transit};
use base::{Clock, Time};

const PCR: f64 = 64e6;

fn parameters() -> AbrParameters {
    AbrParameters { mcr_bps: 1e6, icr_bps: 8e6, rif: 1.0 / 64.0, ..AbrParameters::standard(PCR) }
}

fn ms(milliseconds: f64) -> Time {
    Clock::PICOSECONDS.time(milliseconds * 1e-3)
}

fn backward(explicit_rate: f64, congestion: bool, no_increase: bool) -> RmCell {
    RmCell { current_rate: 8e6, explicit_rate, congestion, no_increase }
}

/// Sends cells as close together as the rate allows; returns their kinds as letters.
fn send(source: &mut AbrSource, cells: usize, data: bool, backward: bool) -> String {
    let mut now = source.due();
    let letter = |_| {
        let sent = source.send(now, data, backward);
        now = source.due();
        match sent {
            InRate::Forward(_) => 'F',
            InRate::Backward => 'B',
            InRate::Data => 'd',
        }
    };
    (0..cells).map(letter).collect()
}

fn forward_cell(source: &mut AbrSource, now: Time) -> RmCell {
    match source.send(now, true, false) {
        InRate::Forward(cell) => cell,
        other => panic!("expected a forward RM cell, not {other:?}"),
    }
}

/// Returns a source with the rate `acr` whose next cell is a forward RM cell.
fn source_at(acr: f64, parameters: AbrParameters) -> AbrSource {
    let mut source = AbrSource::new(AbrParameters { rif: 1.0, ..parameters }, Clock::PICOSECONDS);
    send(&mut source, 32, true, false);
    source.receive(&backward(acr, false, false));
    assert_eq!(source.acr(), acr);
    source
}

/// Rule 1: cells are spaced by at least 1/ACR.
#[test]
fn cells_are_spaced_by_the_allowed_rate() {
    let mut source = AbrSource::new(parameters(), Clock::PICOSECONDS);
    let first = ms(5.0);
    forward_cell(&mut source, first);
    assert_eq!(source.due(), first + cell_time(8e6, Clock::PICOSECONDS));
}

/// A rate that rises moves the next cell forward; one that falls moves it back.
#[test]
fn a_new_rate_moves_the_next_cell() {
    let mut source = AbrSource::new(parameters(), Clock::PICOSECONDS);
    forward_cell(&mut source, Time::ZERO);
    source.receive(&backward(PCR, false, false));
    assert_eq!(source.due(), cell_time(9e6, Clock::PICOSECONDS));
    source.receive(&backward(2e6, false, false));
    assert_eq!(source.due(), cell_time(2e6, Clock::PICOSECONDS));
}

/// Rule 2: ACR starts at ICR, the first in-rate cell is a forward RM cell.
#[test]
fn the_first_cell_is_a_forward_rm_cell_at_icr() {
    let mut source = AbrSource::new(parameters(), Clock::PICOSECONDS);
    assert_eq!(source.due(), Time::ZERO);
    assert_eq!(forward_cell(&mut source, Time::ZERO).current_rate, 8e6);
}

/// Rule 3 a ii: after Nrm - 1 in-rate cells comes the next forward RM cell.
#[test]
fn every_32nd_cell_is_a_forward_rm_cell() {
    let period = format!("F{}", "d".repeat(31));
    assert_eq!(send(&mut AbrSource::new(parameters(), Clock::PICOSECONDS), 96, true, false), period.repeat(3));
}

/// Rule 3 a i: Mrm cells are enough once Trm has passed.
#[test]
fn after_trm_two_cells_are_enough() {
    let mut source = AbrSource::new(parameters(), Clock::PICOSECONDS);
    assert_eq!(send(&mut source, 3, true, false), "Fdd");
    assert_eq!(source.send(ms(99.0), true, false), InRate::Data);
    assert!(matches!(source.send(ms(100.0), true, false), InRate::Forward(_)));
    // Trm has passed again, but only one cell was sent, not two.
    assert_eq!(source.send(ms(300.0), true, false), InRate::Data);
    assert_eq!(source.send(ms(301.0), true, false), InRate::Data);
    assert!(matches!(source.send(ms(302.0), true, false), InRate::Forward(_)));
}

/// Rule 3 b: after each forward RM cell one backward one is sent before data, and further ones only while no data wait.
#[test]
fn one_backward_cell_goes_before_data_after_each_forward_one() {
    let period = format!("FB{}", "d".repeat(30));
    assert_eq!(send(&mut AbrSource::new(parameters(), Clock::PICOSECONDS), 64, true, true), period.repeat(2));
    assert_eq!(send(&mut AbrSource::new(parameters(), Clock::PICOSECONDS), 4, false, true), "FBBB");
}

/// Rule 5: ADTF without a forward RM cell takes ACR back to ICR, but does not raise it.
#[test]
fn a_long_pause_takes_the_rate_back_to_icr() {
    for (pause, acr, expected) in [(499.0, 32e6, 32e6), (502.0, 32e6, 8e6), (502.0, 4e6, 4e6)] {
        let mut source = source_at(acr, parameters());
        assert_eq!(forward_cell(&mut source, ms(pause)).current_rate, expected, "{pause} ms");
    }
}

/// Rule 6: CRM forward RM cells without a backward one reduce ACR by CDF each time, not below MCR.
#[test]
fn missing_backward_cells_reduce_the_rate() {
    // CRM = ceil(100 / 32) = 4.
    let mut source = source_at(32e6, AbrParameters { tbe_cells: 100, ..parameters() });
    let mut rates = Vec::new();
    for _ in 0..60 {
        let due = source.due();
        rates.push(forward_cell(&mut source, due).current_rate);
        assert_eq!(send(&mut source, 31, true, false), "d".repeat(31));
    }
    assert_eq!(rates[..6], [32e6, 32e6, 32e6, 32e6, 30e6, 28.125e6]);
    assert_eq!(rates[59], 1e6);
    source.receive(&backward(PCR, true, true));
    let due = source.due();
    assert_eq!(forward_cell(&mut source, due).current_rate, 1e6);
}

/// Rule 7: the forward RM cell carries CCR = ACR, ER = PCR, and no mark.
#[test]
fn a_forward_cell_carries_the_rate_and_no_mark() {
    let cell = forward_cell(&mut source_at(32e6, parameters()), ms(10.0));
    assert_eq!(cell, RmCell { current_rate: 32e6, explicit_rate: PCR, congestion: false, no_increase: false });
}

/// Rules 8 and 9: CI reduces by RDF, NI holds, neither raises by RIF * PCR; then min(ACR, ER), at least MCR, at most
/// PCR.
#[test]
fn backward_cells_change_the_rate() {
    let after = |acr, cell: RmCell| {
        let mut source = source_at(acr, parameters());
        let mut plain = AbrSource::new(parameters(), Clock::PICOSECONDS);
        std::mem::swap(&mut source, &mut plain);
        // Reach `acr` with the rate increase factor of the test.
        send(&mut source, 32, true, false);
        while source.acr() < acr {
            source.receive(&backward(acr, false, false));
        }
        source.receive(&cell);
        source.acr()
    };
    assert_eq!(after(32e6, backward(PCR, true, false)), 30e6);
    assert_eq!(after(32e6, backward(PCR, true, true)), 30e6);
    assert_eq!(after(32e6, backward(PCR, false, true)), 32e6);
    assert_eq!(after(32e6, backward(PCR, false, false)), 33e6);
    assert_eq!(after(PCR, backward(PCR, false, false)), PCR);
    assert_eq!(after(32e6, backward(20e6, false, false)), 20e6);
    assert_eq!(after(32e6, backward(0.0, false, false)), 1e6);
}

/// 63 increments lead from ICR = PCR/50 to PCR [notes on two-way].
#[test]
fn sixty_three_increments_lead_from_icr_to_pcr() {
    let mut source = AbrSource::new(AbrParameters::two_way(PCR), Clock::PICOSECONDS);
    let mut increments = 0;
    while source.acr() < PCR {
        source.receive(&backward(PCR, false, false));
        increments += 1;
    }
    assert_eq!(increments, 63);
}

/// Destination rule 2: the contents of a forward RM cell return, with CI if the last data cell carried EFCI.
#[test]
fn a_turned_cell_tells_the_last_congestion_once() {
    let mut destination = Destination::default();
    let forward = backward(3e6, false, true);
    destination.data(0, true);
    destination.turn_around(forward);
    assert_eq!(destination.take_backward(), Some(RmCell { congestion: true, ..forward }));
    assert!(!destination.backward_waits());
    destination.turn_around(forward);
    assert_eq!(destination.take_backward(), Some(forward));
    destination.data(0, true);
    destination.data(0, false);
    destination.turn_around(forward);
    assert_eq!(destination.take_backward(), Some(forward));
}

/// Destination rule 3: a newer forward RM cell replaces one that still waits.
#[test]
fn a_newer_cell_replaces_one_that_waits() {
    let mut destination = Destination::default();
    destination.turn_around(backward(3e6, false, false));
    destination.turn_around(backward(5e6, false, false));
    assert_eq!(destination.take_backward().map(|cell| cell.explicit_rate), Some(5e6));
    assert_eq!(destination.take_backward(), None);
    assert_eq!(destination.replaced(), 1);
}

/// AAL5: a packet is complete if all its cells arrived since the last end, and no others.
#[test]
fn a_lost_end_spoils_the_next_packet_too() {
    let transit = |number| Transit { number, cells: 3, ..Transit::default() };
    let mut destination = Destination::default();
    let mut packet = |cells: &[u32], number| {
        cells.iter().for_each(|&cell| destination.data(cell, false));
        destination.complete(&transit(number))
    };
    assert!(packet(&[0, 0, 0], 0));
    assert!(!packet(&[1, 1], 1));
    // The end of packet 2 is lost: the number of cells is that of packet 3, but they are not all its own.
    assert!(!packet(&[2, 2, 3], 3));
    assert!(packet(&[4, 4, 4], 4));
}
