use base::{Packet, PacketKind, Rate, Ring, Time};

use crate::aal5::cells;
use crate::cell::Load;
use crate::config::{EndConfig, IpService};
use crate::destination::{Destination, Transit};
use crate::source::{AbrSource, InRate};
use crate::statistics::EndStatistics;

/// A packet in a queue.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    entered: Time,
    /// When the IP queue has served it, where it does so at a rate of its own.
    served: Time,
    packet: Packet,
}

/// One end of a channel: IP queue, segmentation, ABR source and destination.
#[derive(Clone, Debug)]
pub(crate) struct EndSystem {
    pub(crate) source: AbrSource,
    pub(crate) destination: Destination,
    pub(crate) statistics: EndStatistics,
    /// Its way's first step.
    pub(crate) first_step: u32,
    service: IpService,
    rate: Rate,
    /// When the IP queue has served all.
    free: Time,
    /// Packets that the IP queue serves at a rate of its own.
    at_ip: Ring<Waiting>,
    /// Packets that wait for the channel, the one in segmentation first.
    waiting: Ring<Waiting>,
    /// Cells of the first of them that have not gone.
    cells_left: u32,
    /// Its number, and when its first cell went.
    number: u32,
    started: Time,
    /// Packets whose last cell has gone but not arrived.
    in_transit: Ring<Transit>,
    data_packets: u32,
}

impl EndSystem {
    pub(crate) fn new(config: &EndConfig, first_step: u32) -> EndSystem {
        let rate = match config.ip_service {
            IpService::RateBps(rate) => Rate::from_bits_per_second(rate),
            IpService::ChannelRate | IpService::Immediate => Rate::UNLIMITED,
        };
        EndSystem {
            source: AbrSource::new(config.abr),
            destination: Destination::default(),
            statistics: EndStatistics::default(),
            first_step,
            service: config.ip_service,
            rate,
            free: Time::ZERO,
            at_ip: Ring::default(),
            waiting: Ring::default(),
            cells_left: 0,
            number: 0,
            started: Time::ZERO,
            in_transit: Ring::default(),
            data_packets: 0,
        }
    }

    /// A packet enters; when the IP queue has served it, where it does so at a rate of its own.
    pub(crate) fn enter(&mut self, now: Time, packet: Packet) -> Option<Time> {
        self.statistics.offered += 1;
        self.data_packets += u32::from(packet.kind != PacketKind::Ack);
        let served = match self.service {
            IpService::RateBps(_) => {
                self.free = self.free.max(now) + self.rate.service_time(packet.bytes);
                self.at_ip.push(Waiting { entered: now, served: self.free, packet });
                Some(self.free)
            }
            IpService::ChannelRate | IpService::Immediate => {
                self.waiting.push(Waiting { entered: now, served: now, packet });
                None
            }
        };
        let [data, ip, atm] = self.queues();
        let most = &mut self.statistics.queue_max;
        *most = [most[0].max(data), most[1].max(ip + atm)];
        served
    }

    /// The IP queue has served a packet: when it will have served the next one.
    pub(crate) fn pass_on(&mut self) -> Time {
        if let Some(waiting) = self.at_ip.pop() {
            self.data_packets -= u32::from(waiting.packet.kind != PacketKind::Ack);
            self.waiting.push(waiting);
        }
        self.at_ip.front().map_or(Time::NEVER, |first| first.served)
    }

    /// Data packets in the IP queue (where it hands them on at once, at the ATM layer); all in the IP queue; all at the ATM layer.
    pub(crate) fn queues(&self) -> [u32; 3] {
        let waiting = self.waiting.len() as u32;
        match self.service {
            IpService::ChannelRate => [self.data_packets, waiting, 0],
            IpService::RateBps(_) => [self.data_packets, self.at_ip.len() as u32, waiting],
            IpService::Immediate => [self.data_packets, 0, waiting],
        }
    }

    /// When its next cell goes; never where nothing waits.
    #[inline(always)]
    pub(crate) fn next_cell(&self, now: Time) -> Time {
        if self.waiting.is_empty() && !self.destination.backward_waits() {
            Time::NEVER
        } else {
            self.source.due().max(now)
        }
    }

    /// Sends its next cell; none where nothing waits. And whether a packet has left with it.
    #[inline(always)]
    pub(crate) fn send(&mut self, now: Time) -> Option<(Load, bool)> {
        let (data, backward) = (!self.waiting.is_empty(), self.destination.backward_waits());
        if !data && !backward {
            return None;
        }
        match self.source.send(now, data, backward) {
            InRate::Data => Some(self.segment(now)),
            InRate::Forward(cell) => {
                self.statistics.forward_sent += 1;
                Some((Load::Forward(cell), false))
            }
            InRate::Backward => {
                self.statistics.backward_sent += 1;
                self.destination.take_backward().map(|cell| (Load::Backward(cell), false))
            }
        }
    }

    #[inline(always)]
    fn segment(&mut self, now: Time) -> (Load, bool) {
        self.statistics.data_sent += 1;
        if self.cells_left == 0 {
            self.cells_left = self.waiting.front().map_or(1, |first| cells(first.packet.bytes));
            self.started = now;
        }
        self.cells_left -= 1;
        let (packet, last) = (self.number, self.cells_left == 0);
        if last {
            self.packet_has_gone(now);
        }
        (Load::Data { packet, last, congested: false }, last)
    }

    #[inline(never)]
    fn packet_has_gone(&mut self, now: Time) {
        let Some(Waiting { entered, packet, .. }) = self.waiting.pop() else { return };
        if !matches!(self.service, IpService::RateBps(_)) {
            self.data_packets -= u32::from(packet.kind != PacketKind::Ack);
        }
        let history = [entered, self.started, now];
        self.in_transit.push(Transit { packet, number: self.number, cells: cells(packet.bytes), history });
        self.number = self.number.wrapping_add(1);
    }

    /// The next packet that this end has sent, up to the one whose last cell arrived.
    pub(crate) fn take_transit(&mut self) -> Option<Transit> {
        self.in_transit.pop()
    }

    /// The packet that the next call to `take_transit` gives.
    pub(crate) fn next_transit(&self) -> Option<&Transit> {
        self.in_transit.front()
    }
}
