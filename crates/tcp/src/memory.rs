//! Memory that Linux takes for a segment in the buffer of a socket, in addition to its payload \[bytes\].

/// Memory of headers, the kernel's two structures, and what the allocator adds.
pub const OVERHEAD: u64 = 1280;

/// The largest headers (`MAX_TCP_HEADER`) and the structure behind the payload (`struct skb_shared_info`), with which the
/// kernel calculates when it sets a buffer's size.
pub(crate) const EXPECTED_HEADERS: u64 = 576;

/// The structure of a segment (`struct sk_buff`), which has memory of its own.
pub(crate) const EXPECTED_STRUCTURE: u64 = 256;
