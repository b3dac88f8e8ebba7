"""Barakat and Altman, Analysis of TCP with Several Bottleneck Nodes, INRIA RR-3620, 1999 ("[bottlenecks]")."""
