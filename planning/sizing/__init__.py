"""What a training run needs before a cluster exists: compute, memory, time, checkpoints, filesystem, nodes.

Pure functions with units in their names; the numbers of the field are data in `planning.catalog` (models.toml,
gpus.toml). One question, one module: `models`, `gpus` and `runs` say what is trained, on what and how much of it;
`compute`, `utilisation`, `memory`, `layout`, `checkpoints`, `failures` and `filesystem` are the formulas; `fabric`
knows how many nodes one start takes; `advise` puts them together. What the nodes then cost in full: `planning.cost`.
docs/sizing.md explains all of it.
"""
