"""TCP over several bottleneck nodes: the models of Barakat and Altman, INRIA RR-3620, 1999 ("[bottlenecks]").

Rates are in packets per second, buffers and windows in packets, times in seconds, as in the paper: divide a rate in
bit/s by the bits of a whole packet. A buffer `B` holds B packets in all, the one in transmission included. Arguments
that describe a path (`rates`, `buffers`) have the nodes on their last axis, in path order; a node is named by its index
from 0 (the paper counts from 1), and -1 means none. The smallest rate is the main bottleneck mu.

A path may hold links that the paper leaves out (one faster than its predecessor, or than 2 mu): no queue builds there,
its burst size is infinite.

>>> packets = 1 / (512 * 8)                                         # figure 4 with n = 4, in packets/s
>>> rates = uniformly_spread_rates(1.5e6 * packets, 4)
>>> found = cycle(rates, [17, 17, 17, 17, 20], round_trip_time=0.56)
>>> int(found.overflow.node), round(float(found.overflow.window), 1), bool(found.double_slow_start)
(3, 123.5, False)
"""

from collections.abc import Mapping
from typing import Final

from ackclock.models.bottlenecks.avoidance import (
    avoidance_growth_rates,
    avoidance_node,
    avoidance_rate,
    sharing_window,
)
from ackclock.models.bottlenecks.buffers import (
    BufferCheck,
    IntermediateRates,
    buffers_suffice,
    full_utilization_buffer,
    intermediate_rates,
    intermediate_rates_approximate,
    minimum_bottleneck_buffer,
    minimum_bottleneck_buffer_approximate,
    minimum_intermediate_buffer,
    minimum_intermediate_buffer_approximate,
    required_burst_size,
)
from ackclock.models.bottlenecks.retransmission import (
    RetransmissionLoss,
    cost_of_lost_retransmission,
    loss_detection_time,
    packets_before_detection,
    retransmission_loss,
    retransmission_loss_behind_access_link,
    retransmission_loss_beta,
    retransmission_loss_beta_with_burst,
    retransmission_loss_two_nodes,
)
from ackclock.models.bottlenecks.slow_start import (
    EquivalentNode,
    SlowStartOverflow,
    TwoNodeBursts,
    burst_sizes,
    equivalent_node,
    overflow_mini_cycle,
    overflow_window,
    overflow_window_approximate,
    queue_building_rates,
    slow_start_overflow,
    two_node_bursts,
    uniformly_spread_rates,
)
from ackclock.models.bottlenecks.tcp_cycle import Cycle, cycle
from ackclock.models.bottlenecks.windows import (
    DROP_FACTORS,
    AvoidanceStart,
    Throughput,
    average_throughput,
    avoidance_start,
    double_slow_start,
    double_slow_start_single_node,
    maximum_window,
    minimum_round_trip_time,
    slow_start_threshold,
    throughput,
    throughput_with_lost_retransmission,
)
from ackclock.models.domain import Model, models_of

MODELS: Final[Mapping[str, Model]] = models_of(__name__)
"""The record of each function: source, limits of the arguments, domain."""

__all__ = [
    "DROP_FACTORS",
    "MODELS",
    "AvoidanceStart",
    "BufferCheck",
    "Cycle",
    "EquivalentNode",
    "IntermediateRates",
    "RetransmissionLoss",
    "SlowStartOverflow",
    "Throughput",
    "TwoNodeBursts",
    "average_throughput",
    "avoidance_growth_rates",
    "avoidance_node",
    "avoidance_rate",
    "avoidance_start",
    "buffers_suffice",
    "burst_sizes",
    "cost_of_lost_retransmission",
    "cycle",
    "double_slow_start",
    "double_slow_start_single_node",
    "equivalent_node",
    "full_utilization_buffer",
    "intermediate_rates",
    "intermediate_rates_approximate",
    "loss_detection_time",
    "maximum_window",
    "minimum_bottleneck_buffer",
    "minimum_bottleneck_buffer_approximate",
    "minimum_intermediate_buffer",
    "minimum_intermediate_buffer_approximate",
    "minimum_round_trip_time",
    "overflow_mini_cycle",
    "overflow_window",
    "overflow_window_approximate",
    "packets_before_detection",
    "queue_building_rates",
    "required_burst_size",
    "retransmission_loss",
    "retransmission_loss_behind_access_link",
    "retransmission_loss_beta",
    "retransmission_loss_beta_with_burst",
    "retransmission_loss_two_nodes",
    "sharing_window",
    "slow_start_overflow",
    "slow_start_threshold",
    "throughput",
    "throughput_with_lost_retransmission",
    "two_node_bursts",
    "uniformly_spread_rates",
]
