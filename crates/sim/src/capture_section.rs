//! The head of a capture: what was simulated, and the link that was captured.

use std::borrow::Cow;

use base::cast::round_to_u64;
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::DataLink;

use crate::capture_size::REVERSE;
use crate::scenario::{ElementConfig, Scenario};

/// pcapng, section 4.2: if_tsresol, a negative power of ten.
const NANOSECONDS: u8 = 9;

/// Returns the header of a capture, which says what was simulated.
pub(crate) fn section(scenario: &Scenario, replication: u64, link: &str) -> SectionHeaderBlock<'static> {
    let application = format!("ackclock {}", env!("CARGO_PKG_VERSION"));
    let comment = format!(
        "simulated by {application}; scenario: {}; seed {}, replication {replication}; link {link}",
        scenario.title, scenario.run.seed
    );
    let options =
        vec![SectionHeaderOption::Comment(text(comment)), SectionHeaderOption::UserApplication(text(application))];
    SectionHeaderBlock { options, ..SectionHeaderBlock::default() }
}

/// Returns the description of the interface, which is the duplex link.
pub(crate) fn interface(scenario: &Scenario, link: &str) -> InterfaceDescriptionBlock<'static> {
    let rate = scenario.elements.iter().find(|simplex| simplex.name() == link).and_then(ElementConfig::rate_bps);
    let description =
        format!("simulated link {link}: outbound what leaves {link}, inbound what leaves {link}{REVERSE}");
    let mut options = vec![
        InterfaceDescriptionOption::IfName(text(link.to_owned())),
        InterfaceDescriptionOption::IfDescription(text(description)),
        InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
    ];
    options.extend(rate.map(|rate| InterfaceDescriptionOption::IfSpeed(round_to_u64(rate))));
    InterfaceDescriptionBlock { linktype: DataLink::ETHERNET, snaplen: 0, options }
}

/// Returns a text that fits into a pcapng option, which holds 65535 bytes at most.
fn text(mut content: String) -> Cow<'static, str> {
    let mut end = content.len().min(60_000);
    while !content.is_char_boundary(end) {
        end -= 1;
    }
    content.truncate(end);
    Cow::Owned(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_titles_are_cut_between_characters() {
        let cut = text("é".repeat(40_000));
        assert_eq!(cut.len(), 60_000);
        assert_eq!(text("x".to_owned() + &"é".repeat(40_000)).len(), 59_999);
    }
}
