"""Every figure and table of the papers, reproduced with one command and compared with what the paper says.

A folder a paper: `paper.toml` lists its items, `expected.csv` holds its numbers and claims with the criterion for each,
`scenarios/` its scenarios, and a module an item makes it (`ackclock.experiments.frame` says how).
"""

from ackclock.experiments.naming import chosen
from ackclock.experiments.papers import Item, Paper, papers
from ackclock.experiments.report import Reproduction
from ackclock.experiments.reproducing import report_folder, reproduce
from ackclock.experiments.reproduction import ReproducedItem

__all__ = ["Item", "Paper", "ReproducedItem", "Reproduction", "chosen", "papers", "report_folder", "reproduce"]
