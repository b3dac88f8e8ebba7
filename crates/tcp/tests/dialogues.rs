//! Protocol behaviour as dialogues: each `dialogues/*.txt` is a script of segments in and segments out.
//!
//! ```text
//! # The RFC's sentence.
//! sender rfc newreno initial_window=4 rto.min_s=0.2 size=9
//! 0.0 > data 0-3                    it sends 0, 1, 2, 3 at this instant, each for the first time
//! 0.1 < ack 1 1                     two ACKs arrive that expect packet 1 next (`echo 0.05`: with this stamp)
//! 1.0 > data 1 retransmission       its own timer ran meanwhile
//! 9.0 > nothing                     it has been silent since, and is now
//! 9.0 = cwnd 1 ssthresh 2           state that the segments alone do not show
//! ```
//!
//! The first line names the party and its settings, by their names in the resolved scenario (`none` for null); other
//! settings have the values of [`sender_settings`] or [`receiver_settings`]. Blocks of an ACK follow its number: `< ack 1
//! selected 5-6 selected 3`. A receiver hears `< data 5`, or `< data 5 sent 0.2` where that was on its way, and says
//! `> ack 3`; one that acknowledges selectively, `> ack 3 selected 5`, or `duplicate 2` where it received that before. The
//! script must list all segments that the party sends, at their instants and in their order: one more or less is a failure.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::path::Path;

use base::{Clock, Marks, Time};
use serde_json::{json, Value};
use tcp::{Ack, Acknowledgment, Actions, LossEvent, Receiver, Segment, Selected, Sender, SenderConfig};

#[test]
fn all_dialogues_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dialogues");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 30, "only {} dialogues found", paths.len());
    let failures: Vec<String> = paths
        .iter()
        .filter_map(|path| {
            let script = std::fs::read_to_string(path).unwrap();
            let fault = play(&script).err()?;
            Some(format!("{}\n{}", path.file_name().unwrap().to_string_lossy(), fault.show(&script)))
        })
        .collect();
    assert!(failures.is_empty(), "{} of {} dialogues failed\n\n{}", failures.len(), paths.len(), failures.join("\n"));
}

/// A fault of a dialogue, and its line (from 0).
#[derive(Debug)]
struct Fault {
    line: usize,
    what: String,
}

impl Fault {
    /// Returns the whole dialogue with the line marked.
    fn show(&self, script: &str) -> String {
        let mut shown = String::new();
        for (number, line) in script.lines().enumerate() {
            let mark = if number == self.line { ">>" } else { "  " };
            let _ = writeln!(shown, "{mark} {line}");
            if number == self.line {
                let _ = writeln!(shown, "   ^ {}", self.what);
            }
        }
        shown
    }
}

/// Segments that were sent and not yet compared with the script.
type Said = VecDeque<(Time, String)>;

/// A sender or a receiver.
trait Party {
    fn hear(&mut self, now: Time, words: &[&str], said: &mut Said) -> Result<(), String>;
    fn deadline(&self) -> Time;
    fn on_timer(&mut self, now: Time, said: &mut Said);
    fn state(&self, name: &str) -> Option<f64>;
}

/// Runs a script to its end or to its first fault.
fn play(script: &str) -> Result<(), Fault> {
    let mut lines = script.lines().enumerate().filter(|(_, line)| !line.starts_with('#') && !line.trim().is_empty());
    let (line, header) = lines.next().ok_or(Fault { line: 0, what: "an empty script".into() })?;
    let mut stage = Stage { said: Said::new(), last: Time::ZERO, party: None };
    stage.open(header).map_err(|what| Fault { line, what })?;
    let mut end = line;
    for (line, text) in lines {
        stage.follow(text).map_err(|what| Fault { line, what })?;
        end = line;
    }
    stage.expect_silence().map_err(|what| Fault { line: end, what })
}

struct Stage {
    party: Option<Box<dyn Party>>,
    said: Said,
    last: Time,
}

impl Stage {
    fn open(&mut self, header: &str) -> Result<(), String> {
        let (role, settings) = header.split_once(' ').unwrap_or((header, ""));
        self.party = Some(match role {
            "sender" => Box::new(SenderParty::new(settings, &mut self.said)?),
            "receiver" => Box::new(ReceiverParty::new(settings)?),
            _ => return Err(format!("neither sender nor receiver: {role}")),
        });
        Ok(())
    }

    fn follow(&mut self, text: &str) -> Result<(), String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [time, direction, what @ ..] = words.as_slice() else { return Err("not a line of a dialogue".into()) };
        let now = instant(time)?;
        if now < self.last {
            return Err("earlier than the line before".into());
        }
        self.last = now;
        match *direction {
            "<" => {
                self.run_timers(|deadline| deadline < now);
                self.expect_silence()?;
                self.party.as_mut().ok_or("no party")?.hear(now, what, &mut self.said)
            }
            ">" => {
                if self.said.is_empty() {
                    self.run_timers(|deadline| deadline <= now);
                }
                if what == ["nothing"] {
                    return self.expect_silence();
                }
                expand(what)?.into_iter().try_for_each(|expected| self.expect(now, &expected))
            }
            "=" => what.chunks(2).try_for_each(|pair| self.expect_state(pair)),
            other => Err(format!("neither <, > nor =: {other}")),
        }
    }

    fn run_timers(&mut self, due: impl Fn(Time) -> bool) {
        let Some(party) = self.party.as_mut() else { return };
        while due(party.deadline()) {
            let (deadline, before) = (party.deadline(), self.said.len());
            party.on_timer(deadline, &mut self.said);
            if self.said.len() == before {
                self.said.push_back((deadline, "a timer that expires for nothing".into()));
            }
        }
    }

    fn expect(&mut self, now: Time, expected: &str) -> Result<(), String> {
        match self.said.pop_front() {
            None => Err(format!("missing: {expected}")),
            Some((time, said)) if (time, said.as_str()) != (now, expected) => {
                Err(format!("expected: {expected}; instead at {}: {said}", Clock::PICOSECONDS.seconds(time)))
            }
            Some(_) => Ok(()),
        }
    }

    fn expect_silence(&self) -> Result<(), String> {
        match self.said.front() {
            None => Ok(()),
            Some((time, said)) => Err(format!("not in the script, at {}: {said}", Clock::PICOSECONDS.seconds(*time))),
        }
    }

    fn expect_state(&self, pair: &[&str]) -> Result<(), String> {
        let &[name, value] = pair else { return Err("a name without a value".into()) };
        let state = self.party.as_ref().and_then(|party| party.state(name)).ok_or(format!("no such state: {name}"))?;
        if (state - number(value)?).abs() < 1e-9 {
            Ok(())
        } else {
            Err(format!("{name} is {state}"))
        }
    }
}

/// Expands `data 4-6 retransmission` into three segments.
fn expand(words: &[&str]) -> Result<Vec<String>, String> {
    let [kind, numbers, rest @ ..] = words else { return Err("kind or number missing".into()) };
    let (first, last) = numbers.split_once('-').unwrap_or((numbers, numbers));
    let (first, last) = (whole(first)?, whole(last)?);
    let suffix = rest.iter().map(|word| format!(" {word}")).collect::<String>();
    Ok((first..=last).map(|number| format!("{kind} {number}{suffix}")).collect())
}

fn number(word: &str) -> Result<f64, String> {
    word.parse().map_err(|_| format!("not a number: {word}"))
}

fn whole(word: &str) -> Result<u64, String> {
    word.parse().map_err(|_| format!("not a whole number: {word}"))
}

fn instant(word: &str) -> Result<Time, String> {
    number(word).map(|seconds| Clock::PICOSECONDS.time(seconds))
}

/// Parses the words before `echo` as numbers, and the stamp after it.
fn numbers_and_echo(words: &[&str]) -> Result<(Vec<u64>, Option<Time>), String> {
    let (numbers, echo) = match words {
        [numbers @ .., "echo", time] => (numbers, Some(instant(time)?)),
        numbers => (numbers, None),
    };
    Ok((numbers.iter().map(|word| whole(word)).collect::<Result<_, _>>()?, echo))
}

/// Splits off the blocks at the end of an ACK's words.
fn split_blocks<'a>(words: &'a [&'a str]) -> Result<(&'a [&'a str], Vec<Selected>), String> {
    let from = words.iter().position(|&word| word == "selected").unwrap_or(words.len());
    let (words, blocks) = words.split_at(from);
    let block = |pair: &[&str]| {
        let &["selected", numbers] = pair else { return Err("a block without its numbers".to_owned()) };
        let (first, last) = numbers.split_once('-').unwrap_or((numbers, numbers));
        Ok(Selected { first: whole(first)?, end: whole(last)? + 1, duplicate: false })
    };
    Ok((words, blocks.chunks(2).map(block).collect::<Result<_, _>>()?))
}

/// Overwrites defaults by `name=value`; `a.b` names a field of a field.
fn settings(mut defaults: Value, words: &str) -> Result<Value, String> {
    for word in words.split_whitespace() {
        let (name, value) = word.split_once('=').ok_or(format!("not name=value: {word}"))?;
        let place = format!("/{}", name.replace('.', "/"));
        let field = defaults.pointer_mut(&place).ok_or(format!("no such setting: {name}"))?;
        let value = if value == "none" { "null" } else { value };
        *field = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    }
    Ok(defaults)
}

/// Returns the settings that a sender's first line omits.
fn sender_settings(dialect: &str, recovery: &str) -> Result<Value, String> {
    let (estimator, granularity, initial, timer, half) = match dialect {
        "rfc" => ("rfc6298", 0.001, 1.0, "impatient", "fractional"),
        "ns2" => ("ticks", 0.1, 3.0, "slow-but-steady", "whole-packets"),
        "engset" => ("rfc6298", 0.0, 1.0, "slow-but-steady", "whole-packets"),
        other => return Err(format!("no such dialect: {other}")),
    };
    Ok(json!({
        "dialect": dialect, "recovery": recovery, "initial_window": 1.0, "initial_ssthresh": null, "max_window": null,
        "slow_start_while": "below", "increase": "reciprocal", "dupack_threshold": 3, "limited_transmit": false,
        "max_burst": null, "half_window": half, "partial_ack_timer": timer, "size": null,
        "rto": {"estimator": estimator, "sample": "per-round", "k": 4, "granularity_s": granularity, "min_s": 1.0,
                "max_s": 60.0, "initial_s": initial, "max_backoff": 64, "clock_offset_s": 0.0},
    }))
}

/// Returns the settings that a receiver's first line omits.
fn receiver_settings() -> Value {
    json!({"ack_every": 2, "ack_delay_s": 0.2, "selective": false, "blocks": null, "linux": null, "dialect": "rfc"})
}

struct SenderParty {
    sender: Sender,
    wire: Wire,
}

/// A record of the segments sent, and of the instant at which each was sent last: the stamp that its ACK echoes.
#[derive(Default)]
struct Wire {
    now: Time,
    said: Said,
    stamps: BTreeMap<u64, Time>,
}

impl Actions for Wire {
    fn transmit(&mut self, segment: Segment) {
        let again = if segment.retransmission { " retransmission" } else { "" };
        self.stamps.insert(segment.sequence, self.now);
        self.said.push_back((self.now, format!("data {}{again}", segment.sequence)));
    }

    fn loss(&mut self, _: LossEvent) {}
}

impl SenderParty {
    fn new(words: &str, said: &mut Said) -> Result<SenderParty, String> {
        let mut words = words.splitn(3, ' ');
        let mut next = || words.next().unwrap_or_default();
        let mut settings = settings(sender_settings(next(), next())?, next())?;
        let size = settings.as_object_mut().and_then(|fields| fields.remove("size")).and_then(|size| size.as_u64());
        let config = serde_json::from_value(settings).map_err(|fault| fault.to_string())?;
        let sender = Sender::new(&SenderConfig::Classic(config), size, Clock::PICOSECONDS);
        let mut party = SenderParty { sender, wire: Wire::default() };
        party.act(Time::ZERO, said, |sender, wire| sender.on_start(Time::ZERO, wire));
        Ok(party)
    }

    fn act(&mut self, now: Time, said: &mut Said, act: impl FnOnce(&mut Sender, &mut Wire)) {
        self.wire.now = now;
        act(&mut self.sender, &mut self.wire);
        said.append(&mut self.wire.said);
    }
}

impl Party for SenderParty {
    fn hear(&mut self, now: Time, words: &[&str], said: &mut Said) -> Result<(), String> {
        let ["ack", words @ ..] = words else { return Err("a sender hears ACKs only".into()) };
        let (words, blocks) = split_blocks(words)?;
        let (numbers, echo) = numbers_and_echo(words)?;
        for next in numbers {
            let last = self.wire.stamps.get(&next.wrapping_sub(1)).copied().unwrap_or_default();
            let ack = Ack {
                next,
                echo: echo.unwrap_or(last),
                selected: &blocks,
                window: u64::MAX,
                marks: Marks::NONE,
                waited: Time::ZERO,
            };
            self.act(now, said, |sender, wire| sender.on_ack(now, ack, wire));
        }
        Ok(())
    }

    fn deadline(&self) -> Time {
        self.sender.deadline()
    }

    fn on_timer(&mut self, now: Time, said: &mut Said) {
        self.act(now, said, |sender, wire| sender.on_timer(now, wire));
    }

    fn state(&self, name: &str) -> Option<f64> {
        match name {
            "cwnd" => Some(self.sender.cwnd()),
            "ssthresh" => Some(self.sender.ssthresh()),
            "flight_size" => Some(self.sender.flight_size() as f64),
            _ => None,
        }
    }
}

struct ReceiverParty {
    receiver: Receiver,
    echo: Time,
}

impl ReceiverParty {
    fn new(words: &str) -> Result<ReceiverParty, String> {
        let mut settings = settings(receiver_settings(), words)?;
        let dialect = settings.as_object_mut().and_then(|fields| fields.remove("dialect")).unwrap_or_default();
        let dialect = serde_json::from_value(dialect).map_err(|fault| fault.to_string())?;
        let config = serde_json::from_value(settings).map_err(|fault| fault.to_string())?;
        let receiver = Receiver::new(&config, dialect, Clock::PICOSECONDS).with_ack_bytes(40);
        Ok(ReceiverParty { receiver, echo: Time::ZERO })
    }

    fn say(&mut self, now: Time, acknowledgment: Acknowledgment, said: &mut Said) {
        self.echo = acknowledgment.echo;
        let mut news = Vec::new();
        self.receiver.read_journal(acknowledgment.journal, acknowledgment.next, &mut news);
        let news: String = news.iter().map(show).collect();
        said.push_back((now, format!("ack {}{news}", acknowledgment.next)));
    }
}

impl Party for ReceiverParty {
    fn hear(&mut self, now: Time, words: &[&str], said: &mut Said) -> Result<(), String> {
        let ["data", words @ ..] = words else { return Err("a receiver hears data only".into()) };
        let (numbers, stamp) = match words {
            [numbers @ .., "sent", time] => (numbers, instant(time)?),
            numbers => (numbers, now),
        };
        for sequence in numbers_and_echo(numbers)?.0 {
            if let Some(acknowledgment) = self.receiver.on_data(now, sequence, stamp, Marks::NONE, 0) {
                self.say(now, acknowledgment, said);
            }
        }
        Ok(())
    }

    fn deadline(&self) -> Time {
        self.receiver.deadline()
    }

    fn on_timer(&mut self, now: Time, said: &mut Said) {
        let acknowledgment = self.receiver.on_timer();
        self.say(now, acknowledgment, said);
    }

    fn state(&self, name: &str) -> Option<f64> {
        match name {
            "echo" => Some(Clock::PICOSECONDS.seconds(self.echo)),
            "bytes" => Some(self.receiver.ack_bytes().into()),
            _ => None,
        }
    }
}

/// Returns what an ACK says about packets out of order, by their first and their last number.
fn show(selected: &Selected) -> String {
    let word = if selected.duplicate { "duplicate" } else { "selected" };
    match selected.end - selected.first {
        1 => format!(" {word} {}", selected.first),
        _ => format!(" {word} {}-{}", selected.first, selected.end - 1),
    }
}

/// Returns the fault of a script that must not hold.
#[cfg(test)]
fn fault(script: &str) -> String {
    play(script).err().map_or_else(|| "none".into(), |fault| format!("{}: {}", fault.line, fault.what))
}

#[test]
fn a_segment_that_the_script_lacks_is_a_fault() {
    assert_eq!(fault("sender rfc reno\n0 > data 0\n0.1 < ack 1\n0.1 > data 1"), "3: not in the script, at 0.1: data 2");
    assert_eq!(fault("sender rfc reno\n0 > data 0\n1.5 < ack 1"), "2: not in the script, at 1: data 0 retransmission");
    assert_eq!(
        fault("sender rfc reno\n0 > data 0\n1.5 > nothing"),
        "2: not in the script, at 1: data 0 retransmission"
    );
}

#[test]
fn a_segment_that_does_not_come_or_comes_late_is_a_fault() {
    assert_eq!(fault("sender rfc reno\n0 > data 0-1"), "1: missing: data 1");
    assert_eq!(fault("sender rfc reno\n0 > data 0\n0.9 > data 0 retransmission"), "2: missing: data 0 retransmission");
    assert_eq!(fault("sender rfc reno\n0.1 > data 0"), "1: expected: data 0; instead at 0: data 0");
}

#[test]
fn a_retransmission_is_no_first_sending() {
    let script = "sender rfc reno\n0 > data 0\n1 > data 0";
    assert_eq!(fault(script), "2: expected: data 0; instead at 1: data 0 retransmission");
}

#[test]
fn wrong_states_and_settings_are_faults() {
    assert_eq!(fault("sender rfc reno\n0 > data 0\n0 = cwnd 2"), "2: cwnd is 1");
    assert_eq!(fault("sender rfc reno initial_widow=2"), "0: no such setting: initial_widow");
    assert_eq!(fault("receiver\n0 < data 1"), "1: not in the script, at 0: ack 0");
}
