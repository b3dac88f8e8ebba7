"""A page in the browser on which a scenario is changed and its curves follow at once: `ackclock lab`.

The server (`serving`, `site`, `guard`) answers on the loopback interface only. A request is read (`requests`), its
cost is bounded (`bounds`), it runs in a thread of its own (`desk`), and its answer is plain data (`answers`, `form`,
`motion`).
The page is in `static`, the lessons are in `lessons`.
"""
