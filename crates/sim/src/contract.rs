//! The contract between the engine and its callers, as data: the names of choices and codes, and the ranges of numbers.

use std::fmt;

use base::Clock;
use net::{
    AppliesTo, AqmConfig, BucketKind, CodelRules, Counting, DelayLaw, Discipline, LossLaw, Overflow, RateLaw, RedEcn,
    SchedulerConfig,
};
use serde::de::value::{MapDeserializer, StrDeserializer};
use serde::de::{DeserializeOwned, Error, IntoDeserializer};
use serde_json::{json, Map, Value};
use tcp::cc::Phase;
use tcp::{LossCause, SenderEvent, State};

use crate::check::all_limits;
use crate::observe::{OverviewKind, SequenceKind};
use crate::recovery::TimeoutKind;
use crate::scenario::{ElementConfig, OrderConfig, SizeLaw, TimeLaw, TrafficConfig};
use crate::statistics::MOST_ROWS_OF_A_GROUP;

/// Name of the event of a fast recovery: its code follows those of the timeouts ([`crate::Repair::event`]).
const RECOVERY: &str = "recovery";

/// Returns the contract with the engine's callers.
///
/// - `most_rows_of_a_group`: flows of a group that are counted one by one at most.
/// - `codes`: by the table and column of a result, the names of the codes from 0 on.
/// - `axes`: by the field of the resolved scenario, its choices.
/// - `recoveries`: by the name of a recovery, what it does at a loss.
/// - `disciplines`: by the name of a queue discipline, what models ask of it.
/// - `ranges`: by the field of the resolved scenario, its unit and its smallest and largest value ([`crate::Limit`]).
pub fn contract() -> Value {
    let range = |limit: &crate::Limit| json!({ "unit": limit.unit, "low": limit.low, "high": limit.high });
    let ranges: Map<String, Value> = all_limits().iter().map(|limit| (limit.field.to_owned(), range(limit))).collect();
    let causes = [LossCause::Timeout, LossCause::FastRetransmit].map(cause_name);
    let repairs = [names::<TimeoutKind>(), &[RECOVERY]].concat();
    json!({
        "most_rows_of_a_group": MOST_ROWS_OF_A_GROUP,
        "segment_overhead_bytes": tcp::SEGMENT_OVERHEAD,
        "codes": {
            "overview.kind": names::<OverviewKind>(),
            "sequence.kind": names::<SequenceKind>(),
            "losses.cause": causes,
            "recovery.event": repairs,
            "state.event": names::<SenderEvent>(),
            "state.state": names::<State>(),
            "state.phase": names::<Phase>(),
        },
        "axes": axes(),
        "recoveries": recoveries(),
        "congestion_controls": congestion_controls(),
        "disciplines": disciplines(),
        "ranges": ranges,
    })
}

fn recoveries() -> Value {
    let entry = |recovery: &tcp::Recovery| {
        let properties = json!({
            "retransmits_fast": recovery.retransmits_fast(),
            "halves_at_loss": recovery.halves_at_loss(),
            "halves_once_a_window": recovery.halves_once_a_window(),
        });
        (recovery.name().to_owned(), properties)
    };
    tcp::Recovery::ALL.iter().map(entry).collect::<Map<String, Value>>().into()
}

fn disciplines() -> Value {
    let entry = |&(name, discipline): &(&str, Discipline)| {
        let properties = json!({
            "is_random": discipline.is_random(),
            "is_fifo": discipline.scheduler == SchedulerConfig::Fifo {},
            "drops_early": discipline.aqm != AqmConfig::None {},
        });
        (name.to_owned(), properties)
    };
    net::disciplines().iter().map(entry).collect::<Map<String, Value>>().into()
}

/// Returns the congestion controls, each with its parameters and its properties.
fn congestion_controls() -> Value {
    let parameter = |known: &tcp::cc::Parameter| {
        let (unit, low, high, default, help) = (known.unit, known.low, known.high, known.default, known.help);
        (known.name.to_owned(), json!({ "unit": unit, "low": low, "high": high, "default": default, "help": help }))
    };
    let entry = |algorithm: &tcp::cc::Algorithm| {
        let parameters: Map<String, Value> = algorithm.parameters.iter().map(parameter).collect();
        let control = (algorithm.new)(&tcp::cc::Settings::linux(Clock::PICOSECONDS));
        let properties = json!({
            "is_random": control.needs().random,
            "parameters": parameters,
            "slow_start": algorithm.slow_start,
            "grows_until_loss": algorithm.grows_until_loss,
        });
        (algorithm.name.to_owned(), properties)
    };
    tcp::cc::ALGORITHMS.iter().map(entry).collect::<Map<String, Value>>().into()
}

fn axes() -> Value {
    json!({
        "elements[].kind": tags::<ElementConfig>("kind"),
        "elements[].counting": names::<Counting>(),
        "elements[].token_bucket.kind": names::<BucketKind>(),
        "elements[].queue.scheduler.kind": tags::<SchedulerConfig>("kind"),
        "elements[].queue.aqm.kind": tags::<AqmConfig>("kind"),
        "elements[].queue.aqm.ecn": names::<RedEcn>(),
        "elements[].queue.aqm.rules": names::<CodelRules>(),
        "elements[].queue.overflow": names::<Overflow>(),
        "elements[].rate_process.law.kind": tags::<RateLaw>("kind"),
        "elements[].delay_process.order": names::<OrderConfig>(),
        "elements[].delay_process.law.kind": tags::<DelayLaw>("kind"),
        "elements[].loss.applies_to": names::<AppliesTo>(),
        "elements[].loss.law.model": tags::<LossLaw>("model"),
        "flows[].traffic.kind": tags::<TrafficConfig>("kind"),
        "flows[].traffic.size.law": tags::<SizeLaw>("law"),
        "flows[].traffic.on.law": tags::<TimeLaw>("law"),
        "flows[].traffic.off.law": tags::<TimeLaw>("law"),
        "flows[].traffic.connection.sender.machine": tags::<tcp::SenderConfig>("machine"),
        "flows[].traffic.connection.sender.ecn": names::<tcp::Ecn>(),
        "flows[].traffic.connection.sender.loss_detection": names::<tcp::LossDetection>(),
        "flows[].traffic.connection.sender.rto.rules": names::<tcp::TimeoutRules>(),
        "flows[].traffic.connection.sender.undo": names::<tcp::UndoResponse>(),
        "flows[].traffic.connection.sender.cwnd_validation": names::<tcp::WindowValidation>(),
        "flows[].traffic.connection.sender.close": names::<tcp::Close>(),
        "flows[].traffic.connection.sender.pacing": names::<tcp::Pacing>(),
        "flows[].traffic.connection.sender.congestion_control.dialect": names::<tcp::cc::Dialect>(),
        "flows[].traffic.connection.sender.congestion_control.slow_start": names::<tcp::cc::SlowStart>(),
        "flows[].traffic.connection.sender.dialect": names::<tcp::Dialect>(),
        "flows[].traffic.connection.sender.recovery": names::<tcp::Recovery>(),
        "flows[].traffic.connection.sender.slow_start_while": names::<tcp::SlowStartWhile>(),
        "flows[].traffic.connection.sender.increase": names::<tcp::Increase>(),
        "flows[].traffic.connection.sender.half_window": names::<tcp::HalfWindow>(),
        "flows[].traffic.connection.sender.partial_ack_timer": names::<tcp::PartialAckTimer>(),
        "flows[].traffic.connection.sender.rto.estimator": names::<tcp::Estimator>(),
        "flows[].traffic.connection.sender.rto.sample": names::<tcp::RttSample>(),
        "atm.ports[].allocation.algorithm": tags::<atm::AllocationConfig>("algorithm"),
    })
}

fn cause_name(cause: LossCause) -> &'static str {
    match cause {
        LossCause::Timeout => "timeout",
        LossCause::FastRetransmit => "fast-retransmit",
    }
}

/// The names of an enum's variants: what serde's derived code answers to an unknown name.
#[derive(Debug)]
struct Variants(&'static [&'static str]);

impl fmt::Display for Variants {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", self.0)
    }
}

impl std::error::Error for Variants {}

impl Error for Variants {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Variants(&[])
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Variants(expected)
    }
}

/// Returns the names of an enum of plain variants, in the order of their declaration.
fn names<T: DeserializeOwned>() -> &'static [&'static str] {
    let unknown: StrDeserializer<'_, Variants> = "".into_deserializer();
    T::deserialize(unknown).map_or_else(|Variants(names)| names, |_| &[])
}

/// Returns the names of an enum whose variants the field `tag` distinguishes.
fn tags<T: DeserializeOwned>(tag: &'static str) -> &'static [&'static str] {
    let unknown = MapDeserializer::<_, Variants>::new([(tag, "")].into_iter());
    T::deserialize(unknown).map_or_else(|Variants(names)| names, |_| &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that each name is that of the code at its position.
    fn codes_are_positions<T: DeserializeOwned>(code: fn(T) -> u8) {
        assert!(!names::<T>().is_empty());
        for (position, name) in names::<T>().iter().enumerate() {
            let value = serde_json::from_value(json!(name)).expect("a name");
            assert_eq!(usize::from(code(value)), position, "{name}");
        }
    }

    #[test]
    fn a_code_is_the_position_of_its_name() {
        codes_are_positions::<OverviewKind>(|kind| kind as u8);
        codes_are_positions::<SequenceKind>(|kind| kind as u8);
        codes_are_positions::<TimeoutKind>(|kind| kind as u8);
        codes_are_positions::<SenderEvent>(|event| event as u8);
        codes_are_positions::<State>(|state| state as u8);
        codes_are_positions::<Phase>(|phase| phase as u8);
        let causes = [LossCause::Timeout, LossCause::FastRetransmit];
        assert_eq!(causes.map(|cause| cause as u8), [0, 1]);
    }

    #[test]
    fn each_axis_has_two_choices_or_more() {
        for (field, choices) in axes().as_object().expect("an object") {
            assert!(choices.as_array().is_some_and(|choices| choices.len() >= 2), "{field}: {choices}");
        }
    }

    #[test]
    fn the_names_are_those_of_results_and_scenarios() {
        let contract = contract();
        assert_eq!(contract["most_rows_of_a_group"], 1000);
        let codes = &contract["codes"];
        assert_eq!(
            codes["overview.kind"],
            json!(["cwnd", "queue", "drop", "acked", "data_queue", "acr", "cell_queue", "ping", "rate"])
        );
        assert_eq!(codes["sequence.kind"], json!(["sent", "retransmitted", "acknowledged"]));
        assert_eq!(codes["losses.cause"], json!(["timeout", "fast-retransmit"]));
        assert_eq!(
            codes["recovery.event"],
            json!([
                "timeout-repeated",
                "timeout-in-recovery",
                "timeout-at-beginning",
                "timeout-at-end",
                "timeout-other",
                "recovery"
            ])
        );
        assert_eq!(codes["state.state"], json!(["Open", "Disorder", "CWR", "Recovery", "Loss"]));
        assert_eq!(codes["state.phase"][6], "probe-bw-cruise");
        let axes = &contract["axes"];
        assert_eq!(axes["elements[].counting"], json!(["with-service", "waiting"]));
        // An axis of each of the two kinds; `contract.json` has all of them.
        assert_eq!(axes["elements[].queue.aqm.kind"][1], "red");
        assert_eq!(axes["flows[].traffic.connection.sender.recovery"][3], "newreno");
        let newreno = json!({ "retransmits_fast": true, "halves_at_loss": true, "halves_once_a_window": true });
        assert_eq!(contract["recoveries"]["newreno"], newreno);
        let red = json!({ "is_random": true, "is_fifo": true, "drops_early": true });
        assert_eq!(contract["disciplines"]["red"], red);
        let rate = json!({ "unit": "bit/s", "low": 1.0, "high": 1e13 });
        assert_eq!(contract["ranges"]["elements[].rate_bps"], rate);
        assert_eq!(contract["ranges"].as_object().map(Map::len), Some(all_limits().len()), "each field once");
    }
}
