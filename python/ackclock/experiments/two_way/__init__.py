"""Kalampoukas, Varma, Ramakrishnan: Two-Way TCP Traffic over Rate Controlled Channels: Effects and Analysis."""
