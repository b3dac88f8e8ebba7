"""Altman, Barakat and Ramos, Analysis of AIMD protocols over paths with variable delay, 2004 ("[variable-delay]")."""
