"""The lab's controls, path and curves inside a notebook: `ackclock.widget`, with the extra `notebook`."""

from ackclock.notebook.live import Widget, widget

__all__ = ["Widget", "widget"]
