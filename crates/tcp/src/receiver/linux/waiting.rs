//! The buffers of segments that wait beyond a hole (Linux `tcp_data_queue_ofo`, `tcp_ofo_queue`).

use std::collections::VecDeque;

use super::memory::Sharing;

/// The buffers in the order of their packets: the first packet of each, and one past the last.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    /// `None` without packets: few receivers hold some, and the place for them would be as much for all.
    #[expect(clippy::box_collection, reason = "a pointer takes a quarter of the place")]
    buffers: Option<Box<VecDeque<(u64, u64)>>>,
}

impl Waiting {
    /// Returns the number of buffers.
    pub(super) fn buffers(&self) -> u64 {
        self.buffers.as_ref().map_or(0, |buffers| buffers.len() as u64)
    }

    /// Holds a packet that is not held: in the buffer that ends before it, if that has room (`tcp_ooo_try_coalesce`), or else in
    /// one of its own. Returns whether it joined a buffer.
    pub(super) fn hold(&mut self, sequence: u64, sharing: &Sharing) -> bool {
        let buffers = self.buffers.get_or_insert_with(|| Box::new(VecDeque::with_capacity(1)));
        // Most packets belong behind all that are held.
        let index = match buffers.back() {
            Some(&(last, _)) if last > sequence => buffers.partition_point(|&(first, _)| first < sequence),
            _ => buffers.len(),
        };
        if let Some((first, end)) = index.checked_sub(1).and_then(|before| buffers.get_mut(before)) {
            if *end == sequence && sharing.fits(*first, sequence + 1) {
                *end += 1;
                return true;
            }
        }
        buffers.insert(index, (sequence, sequence + 1));
        false
    }

    /// Releases the packets that follow `filler`, which fills the first hole, in order. Returns the first packet that the
    /// application does not read in one piece with it, and the number of buffers in that piece that were others before: a
    /// buffer joins the one before it if one has room for both (`tcp_ofo_queue`).
    pub(super) fn release(&mut self, filler: u64, sharing: &Sharing) -> (u64, u64) {
        let (mut next, mut read, mut joined) = (filler + 1, filler + 1, 0);
        let Some(buffers) = &mut self.buffers else { return (read, joined) };
        while let Some(&(_, end)) = buffers.front().filter(|&&(first, _)| first == next) {
            if read == next && sharing.fits(filler, end) {
                read = end;
                joined += 1;
            }
            next = end;
            buffers.pop_front();
        }
        if buffers.is_empty() {
            self.buffers = None;
        }
        (read, joined)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGED: Sharing = Sharing { most: 17, segment: 1448, page: None };

    fn holding(packets: impl IntoIterator<Item = u64>) -> Waiting {
        let mut waiting = Waiting::default();
        packets.into_iter().for_each(|sequence| {
            waiting.hold(sequence, &PAGED);
        });
        waiting
    }

    #[test]
    fn seventeen_packets_that_follow_each_other_share_a_buffer() {
        assert_eq!(holding(1..=17).buffers(), 1);
        assert_eq!(holding(1..=18).buffers(), 2);
        assert_eq!(holding((1..=17).rev()).buffers(), 17, "none follows one that is there");
        assert_eq!(*holding([1, 3, 2]).buffers.unwrap_or_default(), [(1, 3), (3, 4)], "2 joins 1 before it");
    }

    #[test]
    fn packets_in_linear_memory_share_no_buffer() {
        let (mut waiting, linear) = (Waiting::default(), Sharing { most: 1, ..PAGED });
        assert_eq!([1, 2, 3].map(|sequence| waiting.hold(sequence, &linear)), [false; 3]);
        assert_eq!((waiting.buffers(), waiting.release(0, &linear), waiting.buffers()), (3, (1, 0), 0));
    }

    #[test]
    fn what_fills_a_hole_is_read_with_the_buffers_that_join_it() {
        let mut waiting = holding([1, 2, 4]);
        assert_eq!((waiting.release(0, &PAGED), waiting.buffers()), ((3, 1), 1));
        assert_eq!((waiting.release(3, &PAGED), waiting.buffers()), ((5, 1), 0));
        assert_eq!(holding(1..=16).release(0, &PAGED), (17, 1));
        assert_eq!(holding(1..=17).release(0, &PAGED), (1, 0), "a full buffer has no room for the packet before it");
        assert_eq!(holding([1, 3, 2]).release(0, &PAGED), (4, 2), "all buffers that have room together");
        assert_eq!(holding((2..=18).chain([1])).release(0, &PAGED), (2, 1), "the second buffer is full");
        assert_eq!(holding([5]).release(3, &PAGED), (4, 0), "none follows it");
    }

    /// A recorded flow of the kernel's: 785 lies in two pages of 32768 bytes, and a hole at 768 is filled.
    #[test]
    fn a_packet_in_two_pages_of_its_sender_counts_twice() {
        let pages = Sharing { most: 17, segment: 1460, page: Some(32_768) };
        let mut waiting = Waiting::default();
        (769..803).for_each(|sequence| {
            waiting.hold(sequence, &pages);
        });
        let held = waiting.buffers.as_deref().cloned().unwrap_or_default();
        assert_eq!(held, [(769, 785), (785, 801), (801, 803)]);
        assert_eq!(waiting.release(768, &pages), (785, 1));
        let whole = Sharing { most: 17, segment: 4096, page: Some(32_768) };
        assert!(whole.fits(0, 17), "pages end with packets");
    }
}
