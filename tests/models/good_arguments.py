"""Arguments that a model accepts, by package and function; a model without a row is given numbers amid its limits."""

from importlib import import_module
from typing import Any

import numpy as np

from ackclock import models

PACKAGES = {name: import_module(f"ackclock.models.{name}") for name in models.__all__}


def step() -> Any:
    return PACKAGES["abrupt_delay"].step_in_round(13, 125, 0.2, step_instant=0.03)


ROUND_TRIPS = PACKAGES["variable_delay"].RoundTrips.constant(0.2)
CHAIN = PACKAGES["variable_delay"].round_trip_chain([[0.9, 0.1], [0.2, 0.8]], [0.1, 0.3])
PATH = PACKAGES["engset"].Path(0.05, [100e6, 10e6, 2e6])
PIPE: dict[str, Any] = {"bottleneck_rate": 100.0, "round_trip_time": 1.0}
NODES: dict[str, Any] = {"rates": [150.0, 120.0, 100.0], "buffers": [20.0, 20.0, 20.0]}
PAIR: dict[str, Any] = {"windows": 28.0, "delays": 15.0, "rates": 1.0}
MIDDLE: dict[str, Any] = {
    "bottleneck_rate": 100.0,
    "intermediate_rate": 150.0,
    "buffer": 18.0,
    "intermediate_buffer": 15.0,
}
TRIPS: dict[str, Any] = {"round_trips": ROUND_TRIPS, "loss_rate": 0.1, "decrease": 0.5}
PFTK: dict[str, Any] = {
    "round_trip_time": 0.1,
    "loss_probability": 0.01,
    "timeout": 1.0,
    "max_window": 60.0,
    "packets_per_ack": 1.0,
}
ENGSET: dict[str, Any] = {"sources": 4, "on_time": 1.0, "off_time": 1.0}
SAMPLES = [0.1, 0.1, 0.3, 0.1, 0.3, 0.1]
HALF = [[0.5, 0.5], [0.5, 0.5]]

GOOD: dict[str, dict[str, Any]] = {
    "abrupt_delay.rto_after": {"samples": [0.2, 0.3], "k": 4.0, "granularity": 0.0, "minimum_timeout": 1.0},
    "abrupt_delay.round_trip_process": {
        "round_trip_times": [0.1, 0.3],
        "mean_exponential_times": [0.9, 2.7],
        "transitions": HALF,
    },
    "abrupt_delay.round_trip_process_of_factor": {
        "round_trip_times": [0.1, 0.3],
        "holding_time_factor": 10.0,
        "transitions": HALF,
    },
    "abrupt_delay.time_proportions": {"mean_holding_times": [0.1, 0.3], "transitions": HALF},
    "abrupt_delay.ideal_goodput": {
        "window": 12.0,
        "round_trip_times": [0.1, 0.3],
        "mean_holding_times": [0.2, 0.6],
        "bottleneck_rate": 125.0,
        "transitions": HALF,
    },
    "abrupt_delay.ideal_goodput_of_factor": {
        "window": 12.0,
        "round_trip_times": [0.1, 0.3],
        "holding_time_factor": 10.0,
        "bottleneck_rate": 125.0,
        "transitions": HALF,
    },
    "abrupt_delay.step_in_round": {
        "window": 13,
        "bottleneck_rate": 125.0,
        "round_trip_time": 0.2,
        "step_instant": 0.03,
    },
    "abrupt_delay.spurious_timeout": {"step": step(), "new_round_trip_time": 0.3, "rto": 0.2004},
    "abrupt_delay.timeout_round_trip_time": {"step": step(), "rto": 0.2004},
    "abrupt_delay.spurious_fast_retransmit": {"step": step(), "new_round_trip_time": 0.1, "threshold": 3},
    "abrupt_delay.fast_retransmit_round_trip_time": {"step": step(), "threshold": 3},
    "bottlenecks.avoidance_rate": {"window": 250.0, "bottleneck_rate": 100.0},
    "bottlenecks.avoidance_node": {"rates": [150.0, 100.0]},
    "bottlenecks.avoidance_growth_rates": {"rates": [150.0, 100.0], "window": 120.0},
    "bottlenecks.sharing_window": {"rate": 1.6, "bottleneck_rate": 1.5},
    "bottlenecks.required_burst_size": {"threshold": 80.0},
    "bottlenecks.buffers_suffice": {**PIPE, "buffer": 100.0, "intermediate_buffer": 40.0},
    "bottlenecks.minimum_bottleneck_buffer": {**PIPE, "feeding_rate": 150.0},
    "bottlenecks.minimum_bottleneck_buffer_approximate": PIPE,
    "bottlenecks.minimum_intermediate_buffer": {**PIPE, "buffer": 100.0, "rate": 120.0, "feeding_rate": 150.0},
    "bottlenecks.minimum_intermediate_buffer_approximate": {**PIPE, "buffer": 100.0},
    "bottlenecks.full_utilization_buffer": PIPE,
    "bottlenecks.intermediate_rates_approximate": {**PIPE, "buffer": 30.0, "intermediate_buffer": 30.0},
    "bottlenecks.intermediate_rates": {**PIPE, "buffer": 30.0, "intermediate_buffer": 30.0},
    "bottlenecks.queue_building_rates": {"rates": NODES["rates"], "access_rate": 180.0},
    "bottlenecks.burst_sizes": {**NODES, "access_rate": 180.0},
    "bottlenecks.slow_start_overflow": {**NODES, "access_rate": 180.0},
    "bottlenecks.overflow_mini_cycle": {"burst_size": 40.0},
    "bottlenecks.overflow_window": {"burst_size": 40.0},
    "bottlenecks.overflow_window_approximate": {"buffers": [17.0, 20.0]},
    "bottlenecks.equivalent_node": {**NODES, "access_rate": 180.0},
    "bottlenecks.two_node_bursts": {**MIDDLE, "access_rate": 180.0},
    "bottlenecks.uniformly_spread_rates": {"bottleneck_rate": 100.0, "nodes": 3},
    "bottlenecks.loss_detection_time": {
        "burst_size": 37.0,
        "bottleneck_rate": 400.0,
        "duplicate_acks": 3,
        "drop_factor": 1.0,
    },
    "bottlenecks.packets_before_detection": {"threshold": 90.0, "burst_size": 40.0, "drop_factor": 1.0},
    "bottlenecks.retransmission_loss": {**NODES, "threshold": 111.5, "access_rate": 180.0, "drop_factor": 1.0},
    "bottlenecks.retransmission_loss_two_nodes": {**MIDDLE, "threshold": 111.5},
    "bottlenecks.retransmission_loss_behind_access_link": {
        "bottleneck_rate": 100.0,
        "access_rate": 150.0,
        "buffer": 20.0,
        "threshold": 150.0,
    },
    "bottlenecks.retransmission_loss_beta": {"rate_ratio": 1.5},
    "bottlenecks.retransmission_loss_beta_with_burst": {"rate_ratio": 1.5},
    "bottlenecks.cost_of_lost_retransmission": {"start_window": 30.0, "end_window": 120.0},
    "bottlenecks.minimum_round_trip_time": {"propagation_delay": 0.56, "rates": [150.0, 100.0]},
    "bottlenecks.maximum_window": {**PIPE, "buffer": 20.0},
    "bottlenecks.slow_start_threshold": {**PIPE, "buffer": 20.0},
    "bottlenecks.double_slow_start": {"threshold": 110.0, "burst_size": 80.0},
    "bottlenecks.double_slow_start_single_node": {**PIPE, "buffer": 20.0},
    "bottlenecks.avoidance_start": {"threshold": 110.0, "burst_size": 80.0, "drop_factor": 1.0},
    "bottlenecks.throughput": {**PIPE, "buffer": 20.0, "burst_size": 40.0},
    "bottlenecks.average_throughput": {**PIPE, "start_window": 60.0, "end_window": 120.0},
    "bottlenecks.throughput_with_lost_retransmission": {**PIPE, "buffer": 20.0},
    "bottlenecks.cycle": {**NODES, "round_trip_time": 1.0, "access_rate": 180.0, "drop_factor": 1.0},
    "classics.square_root_rate": {"round_trip_time": 0.1, "loss_probability": 0.01, "packets_per_ack": 1.0},
    "classics.pftk_sending_rate": PFTK,
    "classics.pftk_throughput": PFTK,
    "classics.pftk_approximate_rate": PFTK,
    "classics.pftk_sack_throughput": PFTK,
    "classics.lossless_transfer_time": {
        "packets": 100.0,
        "round_trip_time": 0.1,
        "bottleneck_rate": 500.0,
        "max_window": 1e4,
        "initial_window": 10.0,
        "packets_per_ack": 1.0,
    },
    "classics.independent_loss_rate": {
        "round_trip_time": 0.1,
        "loss_probability": 0.01,
        "squared_variation": 1.0,
        "packets_per_ack": 1.0,
        "decrease": 0.5,
    },
    "classics.stationary_loss_rate": {
        "round_trip_time": 0.1,
        "loss_probability": 0.01,
        "covariances": [1.0, 0.5],
        "packets_per_ack": 1.0,
        "decrease": 0.5,
    },
    "classics.normalised_covariances": {"intervals": [1.0, 3.0, 1.0], "lags": 1},
    "classics.short_flow_latency": {
        **PFTK,
        "packets": 7.0,
        "initial_window": 2.0,
        "delayed_ack_time": 0.1,
    },
    "classics.handshake_latency": {
        "round_trip_time": 0.1,
        "loss_probability": 0.01,
        "reverse_loss_probability": 0.0,
        "syn_timeout": 3.0,
    },
    "classics.many_flows_buffer": {"capacity": 1e6, "round_trip_time": 0.1, "flows": 1e4},
    "classics.many_flows_utilisation": {"buffer": 1e3, "capacity": 1e6, "round_trip_time": 0.1, "flows": 1e4},
    "classics.processor_sharing": {"size": 20.0, "capacity": 100.0, "arrival_rate": 6.0, "mean_size": 10.0},
    "classics.engset_states": {"sources": 4, "servers": 3, "idle_source_load": 0.3},
    "classics.engset_congestion": {"sources": 4, "servers": 3, "idle_source_load": 0.3},
    "engset.Path": {"round_trip_time": 0.05, "capacities": [100e6, 2e6], "packet_size": 1500.0, "multiplexing": 1},
    "engset.saturation": {"path": PATH, "window": 44},
    "engset.flight_sizes": {"packets": 12, "window": 44, "pipe_size": 8.3},
    "engset.rounds": {"packets": 12, "window": 44, "pipe_size": 8.3},
    "engset.renormalised": {"found": PACKAGES["engset"].rounds(12, 44, 8.3), "path": PATH},
    "engset.transfer": {"path": PATH, "packets": 12, "window": 44},
    "engset.offered_load": {**ENGSET, "peak_rate": 8e5, "capacity": 1e7},
    "engset.rate_in_state": {"active": 3, "peak_rate": 8e5, "capacity": 1e7},
    "engset.reno_recovery": {"window": 20, "drops": 2, "distance": 7},
    "engset.patient_recovery_drops": {"timeout": 1.0, "round_trip_time": 0.3},
    "engset.state_probabilities": {**ENGSET, "capacity_ratio": 2.0},
    "engset.superposition": {**ENGSET, "capacity_ratio": 2.0},
    "engset.mean_queue": {"path": PATH, "on_time": 0.9, "flights": 3, "following": 5},
    "engset.exceedance": {"size": 200.0, "utilisation": 0.9, "queue": 40.0},
    "engset.buffer_for_loss": {"loss": 0.01, "utilisation": 0.9, "queue": 40.0},
    "engset.delay_buffer": {"capacity": 2e6, "packet_size": 1500.0, "delay": 0.6},
    "engset.bandwidth_delay_buffer": {"capacity": 2e6, "packet_size": 1500.0, "round_trip_time": 0.3},
    "engset.single_queue": {"path": PATH, "packets": 30, "window": 44, "off_time": 1.0},
    "engset.course": {"path": PATH, "packets": 30, "window": 44, "minimum_timeout": 1.0},
    "engset.spurious_timeouts": {"path": PATH, "packets": [30, 40], "window": 44, "minimum_timeout": 1.0},
    "engset.sources_for_load": {"path": PATH, "packets": 12, "load": 1.0, "off_time": 1.0, "window": 44},
    "engset.rule_path": {"capacity": 10e6},
    "engset.buffer_rule": {
        "path": PATH,
        "sources": 4,
        "files": [500],
        "window": 44.0,
        "off_time": 1.0,
        "loss": 0.01,
    },
    "engset.predict": {"path": PATH, "packets": 12, "sources": 134, "off_time": 1.0, "window": 44, "buffer": 200.0},
    "engset.Exponential": {"scale": 9.0, "minimum": 3.0, "tail_share": 0.1},
    "engset.ExponentialPareto": {"scale": 9.0, "minimum": 3.0, "tail_share": 0.1, "shape": 1.5},
    "engset.ExponentialExponential": {"scale": 9.0, "tail_scale": 80.0, "minimum": 3.0, "tail_share": 0.1},
    "two_way.acks_compress": PAIR,
    "two_way.busy_period_interval": {**PAIR, "ack_size": 0.0},
    "two_way.efficiency": {**PAIR, "ack_size": 0.0},
    "two_way.throughput": {**PAIR, "ack_size": 0.0},
    "two_way.one_way_efficiency": PAIR,
    "two_way.efficiency_lost": PAIR,
    "two_way.equal_window_efficiency": {"window": 16.0, "length": 8.0},
    "two_way.windows_for_efficiency": {"target": 0.9, "delays": 8.0, "rates": 1.0},
    "two_way.aggregate": {"windows_of_i": [7.0, 7.0], "windows_of_j": [7.0], "delays": 9.0, "rates": 1.0},
    "two_way.next_queue": {**PAIR, "queues": 13.0},
    "two_way.queue_iteration": {**PAIR, "queues": 13.0, "periods": 3},
    "two_way.busy_period_spacing": {**PAIR, "queues": 13.0},
    "two_way.maximum_queue": PAIR,
    "two_way.timeline": {**PAIR, "until": 40.0, "starts": 0.0, "ack_size": 0.0},
    "variable_delay.mean_factor": TRIPS,
    "variable_delay.mean_window": {**TRIPS, "increase": 1.0},
    "variable_delay.time_average_window": {**TRIPS, "increase": 1.0},
    "variable_delay.sending_rate": {**TRIPS, "increase": 1.0},
    "variable_delay.rare_loss_rate": {"mean_round_trip": 0.5, "loss_rate": 0.5, "decrease": 0.5, "increase": 1.0},
    "variable_delay.reduction_rate": {"round_trips": ROUND_TRIPS, "loss_rate": 0.1},
    "variable_delay.reduction_probability": {**TRIPS, "increase": 1.0},
    "variable_delay.square_root_rate": {
        "mean_round_trip": 2.0,
        "reduction_probability": 0.125,
        "decrease": 0.5,
        "increase": 1.0,
    },
    "variable_delay.per_loss_rate": {
        "round_trips": ROUND_TRIPS,
        "loss_probability": 0.01,
        "decrease": 0.5,
        "increase": 1.0,
    },
    "variable_delay.round_trip_chain": {"transitions": HALF, "round_trips": [0.1, 0.3]},
    "variable_delay.markov_window": {"chain": CHAIN, "loss_rate": 0.1, "decrease": 0.5, "increase": 1.0},
    "variable_delay.mean_factors": {"chain": CHAIN, "loss_rate": 0.1, "decrease": 0.5},
    "variable_delay.factor_probability": {"round_trips": ROUND_TRIPS, "loss_rate": 0.1, "power": 2},
    "variable_delay.stationary_window": {"factors": [1.0, 0.5], "increase": 1.0},
    "variable_delay.simulate_window": {
        "round_trips": [0.1, 0.3],
        "loss_rate": 0.1,
        "decrease": 0.5,
        "increase": 1.0,
        "rounds": 3,
        "replications": 2,
        "generator": np.random.default_rng(1),
        "warm_up": 1,
    },
    "variable_delay.compare_variability": {
        "first": ROUND_TRIPS,
        "second": ROUND_TRIPS,
        "loss_rate": 0.1,
        "decrease": 0.5,
        "mean_tolerance": 1e-6,
    },
    "variable_delay.fit_fixed": {"round_trips": SAMPLES},
    "variable_delay.fit_variable": {"round_trips": SAMPLES},
    "variable_delay.fit_two_states": {"round_trips": SAMPLES, "threshold": 0.2},
    "variable_delay.fit_states": {"round_trips": SAMPLES, "thresholds": [0.2]},
    "variable_delay.equal_time_thresholds": {"round_trips": SAMPLES, "states": 2},
    "variable_delay.round_trip_trace": {"time": [0.0, 0.1], "round_trip": [0.1, 0.2]},
    "variable_delay.one_sample_per_round": {
        "trace": PACKAGES["variable_delay"].round_trip_trace([0.0, 0.1], [0.1, 0.2])
    },
}
# Of two arguments that exclude one another the second is tried with these.
ALTERNATIVE: dict[str, dict[str, Any]] = {
    "variable_delay.fit_two_states": {"round_trips": SAMPLES, "quantile": 0.7},
    "variable_delay.fit_states": {"round_trips": SAMPLES, "quantiles": [0.7]},
}
