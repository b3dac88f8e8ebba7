use base::cast::to_u32;
use base::{Clock, Packet, Rate, Ring, Time};

use crate::aal5::cells;
use crate::cell::Payload;
use crate::config::{EndConfig, IpService};
use crate::destination::{Destination, Transit};
use crate::source::{AbrSource, InRate};
use crate::statistics::EndStatistics;

/// A packet in a queue of an end.
#[derive(Clone, Copy, Debug, Default)]
struct QueuedPacket {
    entered: Time,
    /// Instant at which an IP queue with a rate of its own has served it.
    served: Time,
    packet: Packet,
}

/// One end of a channel: IP queue, segmentation, ABR source and destination.
#[derive(Clone, Debug)]
pub(crate) struct EndSystem {
    pub(crate) source: AbrSource,
    pub(crate) destination: Destination,
    pub(crate) statistics: EndStatistics,
    /// First step of the path from this end.
    pub(crate) first_step: u32,
    service: IpService,
    rate: Rate,
    /// Instant at which the IP queue has served all packets.
    free: Time,
    /// Packets in an IP queue with a rate of its own.
    ip_queue: Ring<QueuedPacket>,
    /// Packets that wait for the channel, the one in segmentation first.
    channel_queue: Ring<QueuedPacket>,
    /// Cells of the packet in segmentation that have not left.
    cells_left: u32,
    /// Number of the packet in segmentation.
    number: u32,
    /// Instant at which its first cell left.
    started: Time,
    /// Packets whose last cell has left but not arrived.
    in_transit: Ring<Transit>,
    /// Number of data packets in the IP queue, or in the channel queue if packets do not wait at IP.
    data_packets: u32,
}

impl EndSystem {
    pub(crate) fn new(config: &EndConfig, first_step: u32, clock: Clock) -> EndSystem {
        let rate = match config.ip_service {
            IpService::RateBps(rate) => Rate::new(rate, clock),
            IpService::ChannelRate | IpService::Immediate => Rate::UNLIMITED,
        };
        EndSystem {
            source: AbrSource::new(config.abr, clock),
            destination: Destination::default(),
            statistics: EndStatistics::default(),
            first_step,
            service: config.ip_service,
            rate,
            free: Time::ZERO,
            ip_queue: Ring::default(),
            channel_queue: Ring::default(),
            cells_left: 0,
            number: 0,
            started: Time::ZERO,
            in_transit: Ring::default(),
            data_packets: 0,
        }
    }

    /// Adds a packet; returns when an IP queue with a rate of its own has served it.
    pub(crate) fn enqueue(&mut self, now: Time, packet: Packet) -> Option<Time> {
        self.statistics.offered += 1;
        self.data_packets += u32::from(!packet.kind.goes_back());
        let served = match self.service {
            IpService::RateBps(_) => {
                self.free = self.free.max(now) + self.rate.service_time(packet.bytes);
                self.ip_queue.push(QueuedPacket { entered: now, served: self.free, packet });
                Some(self.free)
            }
            IpService::ChannelRate | IpService::Immediate => {
                self.channel_queue.push(QueuedPacket { entered: now, served: now, packet });
                None
            }
        };
        let [data, ip, atm] = self.queues();
        let most = &mut self.statistics.queue_max;
        *most = [most[0].max(data), most[1].max(ip + atm)];
        served
    }

    /// Passes the packet that the IP queue has served to the channel; returns when the next one will be served.
    pub(crate) fn serve_ip(&mut self) -> Time {
        if let Some(queued) = self.ip_queue.pop() {
            self.data_packets -= u32::from(!queued.packet.kind.goes_back());
            self.channel_queue.push(queued);
        }
        self.ip_queue.front().map_or(Time::NEVER, |first| first.served)
    }

    /// Returns the numbers of data packets in the IP queue (of a service that is immediate: at the ATM layer), of all
    /// packets in the IP queue, and of all packets at the ATM layer.
    pub(crate) fn queues(&self) -> [u32; 3] {
        let waiting = to_u32(self.channel_queue.len());
        match self.service {
            IpService::ChannelRate => [self.data_packets, waiting, 0],
            IpService::RateBps(_) => [self.data_packets, to_u32(self.ip_queue.len()), waiting],
            IpService::Immediate => [self.data_packets, 0, waiting],
        }
    }

    /// Returns when the next cell is sent; [`Time::NEVER`] if nothing waits.
    #[inline(always)]
    pub(crate) fn next_cell(&self, now: Time) -> Time {
        if self.channel_queue.is_empty() && !self.destination.backward_waits() {
            Time::NEVER
        } else {
            self.source.due().max(now)
        }
    }

    /// Sends the next cell, if anything waits; returns it with whether it is the last one of a packet.
    #[inline(always)]
    pub(crate) fn send(&mut self, now: Time) -> Option<(Payload, bool)> {
        let (data, backward) = (!self.channel_queue.is_empty(), self.destination.backward_waits());
        if !data && !backward {
            return None;
        }
        match self.source.send(now, data, backward) {
            InRate::Data => Some(self.segment(now)),
            InRate::Forward(cell) => {
                self.statistics.forward_sent += 1;
                Some((Payload::Forward(cell), false))
            }
            InRate::Backward => {
                self.statistics.backward_sent += 1;
                self.destination.take_backward().map(|cell| (Payload::Backward(cell), false))
            }
        }
    }

    #[inline(always)]
    fn segment(&mut self, now: Time) -> (Payload, bool) {
        self.statistics.data_sent += 1;
        if self.cells_left == 0 {
            self.cells_left = self.channel_queue.front().map_or(1, |first| cells(first.packet.bytes));
            self.started = now;
        }
        self.cells_left -= 1;
        let (packet, last) = (self.number, self.cells_left == 0);
        if last {
            self.finish_segmentation(now);
        }
        (Payload::Data { packet, last, congested: false }, last)
    }

    #[inline(never)]
    fn finish_segmentation(&mut self, now: Time) {
        let Some(QueuedPacket { entered, packet, .. }) = self.channel_queue.pop() else { return };
        if !matches!(self.service, IpService::RateBps(_)) {
            self.data_packets -= u32::from(!packet.kind.goes_back());
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
