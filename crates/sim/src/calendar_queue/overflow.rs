use std::collections::BTreeMap;

use base::{prefetch, Packet, Time};

use super::Waiting;

/// Packets that wait beyond a crowd's days: in rows of many days each, one behind the other as they were told; those beyond
/// the rows in order of time.
///
/// Of each row only the end is written until it comes near, and then it is read from end to end: so what waits here may lie
/// far off in memory, and is there when it is needed.
#[derive(Clone, Debug)]
pub(super) struct Overflow {
    /// Rows `first` to `first + ROWS - 1`, each at its number modulo [`ROWS`].
    rows: Vec<Vec<Waiting>>,
    first: u64,
    /// Packets in the rows.
    held: usize,
    /// A row is two to this many picoseconds long.
    shift: u32,
    /// Memory of rows that none uses now.
    spare: Vec<Vec<Waiting>>,
    /// By instant and order of telling.
    beyond: BTreeMap<(Time, u64), Waiting>,
    told: u64,
}

const ROWS: usize = 512;
/// Steps that longer rows save a packet beyond all of them.
const BEYOND: usize = 8;

impl Overflow {
    /// With rows so long, two to this many picoseconds.
    pub(super) fn new(shift: u32) -> Overflow {
        Overflow {
            rows: vec![Vec::new(); ROWS],
            first: 0,
            held: 0,
            shift,
            spare: Vec::new(),
            beyond: BTreeMap::new(),
            told: 0,
        }
    }

    /// A packet that is not before the first row. Steps that longer rows might have saved.
    #[inline(always)]
    pub(super) fn push(&mut self, time: Time, packet: Packet, flow: u32) -> usize {
        let (row, waiting) = (self.row(time), Waiting { time, packet, flow });
        if row - self.first >= ROWS as u64 {
            self.push_beyond(waiting);
            return BEYOND;
        }
        let row = &mut self.rows[row as usize % ROWS];
        if row.capacity() == 0 {
            *row = self.spare.pop().unwrap_or_default();
        }
        row.push(waiting);
        // What is written next is fetched first, even if nothing of it is read; to wait for that then would hold up all other writing.
        row.spare_capacity_mut().get(2).into_iter().for_each(prefetch);
        self.held += 1;
        0
    }

    /// The number of the first row that has packets, which the first one may be from now on.
    pub(super) fn first_busy(&self) -> Option<u64> {
        if self.held > 0 {
            return (self.first..).find(|&row| !self.rows[row as usize % ROWS].is_empty());
        }
        self.beyond.first_key_value().map(|((time, _), _)| self.row(*time))
    }

    /// Nothing is here, and this is the first row from now on.
    #[inline(always)]
    pub(super) fn begin_at(&mut self, row: u64) {
        self.first = row;
    }

    /// This is the first row from now on; all before it are empty.
    pub(super) fn skip_to(&mut self, row: u64) {
        self.first = row;
        if !self.beyond.is_empty() {
            self.come_near();
        }
    }

    /// The packets of the first row, for good. Give their memory back ([`Overflow::give_back`]).
    pub(super) fn take_first(&mut self) -> Vec<Waiting> {
        let row = std::mem::take(&mut self.rows[self.first as usize % ROWS]);
        self.held -= row.len();
        self.skip_to(self.first + 1);
        row
    }

    /// Other packets may stand where these stood.
    pub(super) fn give_back(&mut self, mut row: Vec<Waiting>) {
        row.clear();
        if row.capacity() > 0 {
            self.spare.push(row);
        }
    }

    /// All, of an instant in the order of telling.
    pub(super) fn into_packets(self) -> impl Iterator<Item = Waiting> {
        let first = self.first as usize % ROWS;
        let mut rows = self.rows;
        rows.rotate_left(first);
        rows.into_iter().flatten().chain(self.beyond.into_values())
    }

    fn row(&self, time: Time) -> u64 {
        time.picoseconds() >> self.shift
    }

    /// What lay beyond the rows and does no longer takes its place in them, before anything is told that comes there at once.
    #[cold]
    #[inline(never)]
    fn come_near(&mut self) {
        while let Some(waiting) = self.beyond.first_entry() {
            if (waiting.key().0.picoseconds() >> self.shift) - self.first >= ROWS as u64 {
                break;
            }
            let Waiting { time, packet, flow } = waiting.remove();
            self.push(time, packet, flow);
        }
    }

    #[cold]
    #[inline(never)]
    fn push_beyond(&mut self, waiting: Waiting) {
        self.told += 1;
        self.beyond.insert((waiting.time, self.told), waiting);
    }
}
