"""Zaragoza, The TCP-modified Engset Model Revisited, 2014 ("[engset]")."""
