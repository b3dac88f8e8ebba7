"""ns-2's queues, event by event: each finds the arrivals of ours, and sends, drops and marks the same packets."""
