"""Cross-check of ackclock's engine against ns-2: same scenarios, every change of the congestion window compared."""
