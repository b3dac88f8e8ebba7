"""Abouzeid and Roy, TCP in Networks with Abrupt Delay Variations and Random Loss ("[abrupt-delay]")."""
