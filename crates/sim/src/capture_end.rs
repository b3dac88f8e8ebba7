//! The ends of flows in captures: addresses and ports, by which flows are told apart.

const HOSTS: u32 = u16::MAX as u32;
const FIRST_SENDER_PORT: u32 = 49152;
const RECEIVER_PORT: u16 = 9;

/// The addresses and the port of one end of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub(crate) mac: [u8; 6],
    pub(crate) address: [u8; 4],
    pub(crate) port: u16,
}

impl End {
    fn new(side: u8, flow: u32, port: u16) -> End {
        let [_, _, x, y] = (flow % HOSTS + 1).to_be_bytes();
        // A locally administered MAC address.
        End { mac: [2, 0, 10, side, x, y], address: [10, side, x, y], port }
    }

    /// Returns the end that sends data.
    pub(crate) fn sender(flow: u32) -> End {
        // A scenario has fewer flows: its check limits their hops to 2^30.
        let port = u16::try_from(FIRST_SENDER_PORT + flow / HOSTS).expect("fewer than 2^30 flows");
        End::new(0, flow, port)
    }

    /// Returns the end that sends ACKs.
    pub(crate) fn receiver(flow: u32) -> End {
        End::new(1, flow, RECEIVER_PORT)
    }
}
