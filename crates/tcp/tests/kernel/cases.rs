//! The recordings of the kernel and the settings of their hosts.

use tcp::cc::SlowStart;
use tcp::{Ecn, LossDetection, Pacing, SelectiveConfig, SendBuffer};

use super::{Case, Fate};

/// Returns a host of the recordings. Its clock is 5.006 ms ahead of a multiple of eight jiffies at their beginning.
fn host(control: &str, loss_detection: LossDetection) -> SelectiveConfig {
    let mut config = SelectiveConfig { loss_detection, ..SelectiveConfig::default() };
    config.tail_loss_probe = loss_detection == LossDetection::Rack;
    config.rto.clock_offset_s = 0.005_006;
    config.send_buffer = Some(SendBuffer { buffer_bytes: 1_000_000, most_buffer_bytes: 67_108_864 });
    control.clone_into(&mut config.congestion_control.name);
    if control != "cubic" {
        config.congestion_control.slow_start = SlowStart::Standard;
    }
    config
}

macro_rules! case {
    ($name:literal, $config:expr, $size:expr, $lost:expr, $copies:literal, $retransmitted:expr) => {
        Case {
            name: $name,
            text: include_str!(concat!("paths/", $name, ".csv")),
            config: $config,
            size: $size,
            fate: Fate {
                service_s: 0.000_12,
                back_s: 0.05,
                handshake_s: 0.000_009,
                lost: $lost,
                copies: $copies,
                ..Fate::default()
            },
            retransmitted: $retransmitted.to_vec(),
        }
    };
}

/// Holds segment 100 until some later ones have passed.
fn holding(later: u32, case: Case) -> Case {
    Case { fate: Fate { held: Some((100, later)), ..case.fate }, ..case }
}

/// Lets one packet be shorter than the others.
fn shortening(packet: u64, service_s: f64, case: Case) -> Case {
    Case { fate: Fate { short: Some((packet, service_s)), ..case.fate }, ..case }
}

/// Marks a data packet.
fn marking(packet: u64, case: Case) -> Case {
    Case { fate: Fate { marked: Some(packet), ..case.fate }, ..case }
}

/// Marks one data packet of each number of packets, on a path of 20 ms.
fn marking_each(packets: u64, case: Case) -> Case {
    Case { fate: Fate { marked: Some(packets), each_multiple: true, back_s: 0.01, ..case.fate }, ..case }
}

/// Delays data by 950 ms after ten seconds, longer than the timer waits, on a slow link that is full at first.
fn delaying(case: Case) -> Case {
    let fate = Fate { service_s: 0.0012, full: true, changed: Some((10.0, 0.95)), ..case.fate };
    Case { fate, ..case }
}

/// Loses retransmissions of a spurious timeout that nothing detects.
fn losing_again(case: Case) -> Case {
    Case { fate: Fate { lost_again: NOFRTO, ..case.fate }, ..case }
}

/// Segments that the link drops at the end of slow start: with timestamps, without them, and also without selective
/// acknowledgment.
const EARLY: &[u64] =
    &[69, 70, 109, 110, 113, 114, 117, 118, 120, 122, 124, 126, 129, 130, 132, 134, 136, 138, 141, 142, 144, 146];
const NOTS: &[u64] =
    &[68, 70, 109, 110, 112, 116, 117, 118, 120, 124, 125, 126, 129, 130, 133, 134, 137, 138, 141, 142, 145];
const NOSACK_NOTS: &[u64] =
    &[68, 70, 108, 110, 113, 114, 117, 118, 120, 122, 124, 126, 128, 130, 132, 134, 136, 138, 141, 142, 144];
/// Segments whose retransmission the link drops.
const NOFRTO: &[u64] = &[6328, 6331, 6332, 6335, 6336, 6339, 6340, 6343, 6344, 6347, 6348, 6351, 6352, 6355, 6356];

fn rack() -> SelectiveConfig {
    host("reno", LossDetection::Rack)
}

fn count() -> SelectiveConfig {
    host("reno", LossDetection::Dupack)
}

/// Returns a host without selective acknowledgment.
fn plain() -> SelectiveConfig {
    SelectiveConfig { sack: false, ..count() }
}

/// Returns all recordings, by what they show.
pub fn all() -> Vec<Case> {
    [losses(), tails(), reordered(), without_sack(), marked(), late(), overtaken(), bbr()]
        .into_iter()
        .flatten()
        .collect()
}

fn losses() -> Vec<Case> {
    let four = vec![100, 101, 104, 110];
    let repaired = [(504_581, 99), (504_821, 100), (505_061, 103), (505_421, 109)];
    let cubic = host("cubic", LossDetection::Rack);
    vec![
        case!("reno_1loss", rack(), None, vec![100], 1, [(504_341, 99)]),
        case!("reno_1loss_norack", count(), None, vec![100], 1, [(504_341, 99)]),
        case!("reno_4loss", rack(), None, four, 1, repaired),
        case!("reno_half_lost", rack(), None, (161..=240).collect(), 1, [(611_661, 160), (611_901, 161)]),
        case!("reno_lostrtx", rack(), None, vec![100], 2, [(504_341, 99), (607_941, 99)]),
        case!("reno_lostrtx_norack", count(), None, vec![100], 2, [(504_341, 99), (914_994, 99)]),
        // After the recovery the application writes 64 KiB, 45 packets and 376 bytes, which leave as a short one.
        shortening(2657, 428e-6 * 0.08, case!("cubic_curve", cubic, None, vec![1000], 1, [(845_505, 999)])),
    ]
}

fn tails() -> Vec<Case> {
    let no_probe = SelectiveConfig { tail_loss_probe: false, ..rack() };
    vec![
        case!("tail1_tlp", rack(), Some(50), vec![50], 1, [(706_994, 49)]),
        case!("tail3_tlp", rack(), Some(50), vec![48, 49, 50], 1, [(610_994, 49), (711_116, 47), (811_238, 48)]),
        case!("tail1_notlp", no_probe, Some(50), vec![50], 1, [(706_994, 49)]),
    ]
}

fn reordered() -> Vec<Case> {
    vec![
        holding(2, case!("reorder2", rack(), None, vec![], 0, [])),
        holding(8, case!("reorder8", rack(), None, vec![], 0, [(504_341, 99)])),
        holding(8, case!("reorder8_norack", count(), None, vec![], 0, [(504_341, 99)])),
    ]
}

/// A retransmission a round trip. In the last one the kernel's send buffer ends new data at 1.614 s, which ends it here.
fn without_sack() -> Vec<Case> {
    let four = vec![100, 101, 104, 110];
    let repaired = [(504_581, 99), (607_941, 100), (708_063, 103), (808_184, 109)];
    vec![
        holding(8, case!("reorder8_nosack", plain(), None, vec![], 0, [(504_341, 99)])),
        case!("reno_1loss_nosack", plain(), None, vec![100], 1, [(504_341, 99)]),
        case!("reno_4loss_nosack", plain(), None, four, 1, repaired),
        case!("reno_half_lost_nosack", plain(), None, (161..=240).collect(), 1, [(611_661, 160), (711_784, 161)]),
    ]
}

fn marked() -> Vec<Case> {
    let ecn = |control, ecn| SelectiveConfig { ecn, ..host(control, LossDetection::Rack) };
    vec![
        marking(100, case!("ecn_reno", ecn("reno", Ecn::Classic), None, vec![], 0, [])),
        marking(100, case!("ecn_cubic", ecn("cubic", Ecn::Classic), None, vec![], 0, [])),
        marking_each(5, case!("dctcp_mark5", ecn("dctcp", Ecn::Dctcp), None, vec![], 0, [])),
        marking_each(50, case!("dctcp_mark50", ecn("dctcp", Ecn::Dctcp), None, vec![], 0, [])),
    ]
}

/// Spurious timeouts: undone by timestamps, by new data (F-RTO), or not at all. With timestamps F-RTO changes nothing.
fn late() -> Vec<Case> {
    let nots = |config| SelectiveConfig { timestamps: false, ..config };
    let nofrto = |config| SelectiveConfig { frto: false, ..config };
    let lost = |early: &[u64], more: &[u64]| [early, more].concat();
    let burst = |early: &[u64], last| early.iter().copied().chain(last).collect();
    let repaired = [(504_894, 68)];
    vec![
        delaying(case!("late_reno", rack(), None, lost(EARLY, &[4882, 4986]), 1, repaired)),
        delaying(case!("late_reno", nofrto(rack()), None, lost(EARLY, &[4882, 4986]), 1, repaired)),
        delaying(case!("late_reno_nots", nots(rack()), None, lost(NOTS, &[4920, 5024]), 1, [])),
        losing_again(delaying(case!(
            "late_reno_nots_nofrto",
            nofrto(nots(rack())),
            None,
            lost(NOTS, &[4920, 5024]),
            1,
            []
        ))),
        delaying(case!("late_reno_nosack", plain(), None, burst(EARLY, 389..=405), 1, [(507_294, 68)])),
        delaying(case!(
            "late_reno_nosack_nots",
            nots(plain()),
            None,
            burst(NOSACK_NOTS, 384..=397),
            1,
            [(506_075, 67)]
        )),
    ]
}

/// The delay of data falls by 40 ms, and later packets overtake earlier ones: timestamps undo a reduction at the first
/// partial ACK, and at once another one begins. What was taken to be lost before an undo is not judged again by its age.
fn overtaken() -> Vec<Case> {
    let case = case!(
        "fall_cubic",
        host("cubic", LossDetection::Rack),
        None,
        vec![],
        0,
        [(1_061_694, 530), (1_064_094, 542), (1_065_294, 543)]
    );
    let fate = Fate { service_s: 0.0012, handshake_s: 0.000_048, changed: Some((1.000_042, 0.01)), ..case.fate };
    vec![Case { fate, ..case }]
}

/// BBR on 10 Mbit/s: without losses, and with losses at a buffer of 20 packets.
fn bbr() -> Vec<Case> {
    let bbr = || host("bbr", LossDetection::Rack);
    let slow = |fate| Fate { service_s: 0.001_2, ..fate };
    let clean = case!("bbr_clean", bbr(), None, vec![], 0, []);
    let drops = case!("bbr_drops", bbr(), None, vec![], 0, []);
    vec![
        Case { fate: slow(Fate { back_s: 0.02, handshake_s: 0.000_048, seed: 181, ..clean.fate }), ..clean },
        Case {
            fate: slow(Fate { handshake_s: 0.000_049, buffer: Some(20), clock_s: 0.000_8, seed: 1, ..drops.fate }),
            ..drops
        },
    ]
}

/// Returns the recording of Reno that `fq` paces.
pub fn paced(pacing: Pacing) -> Case {
    let config = SelectiveConfig { pacing, ..rack() };
    case!("pacing_reno", config, None, vec![], 0, [])
}
