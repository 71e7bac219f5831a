"""Which model is trained: a public one by name, or a size alone.

The public ones: catalog/models.toml.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cache

from planning.catalog.reading import build, read
from planning.findings import near, shown
from planning.sizing.errors import SizingError
from planning.sizing.quantities import count_of

FILE = "models.toml"
SMALLEST, LARGEST = 10**6, 10**14
ASPECT = 128
"""Hidden size per layer of the dense models in models.toml: 102 to 205, most near this."""
GUESSED_VOCABULARY = 128_256
GUESSED_SEQUENCE = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    name: str
    parameters: int
    active: int
    """Parameters that one token passes through; fewer than all in a mixture of experts."""
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    intermediate: int
    vocabulary: int
    sequence: int
    """Tokens of one training sequence, where nothing else is said."""
    experts: int = 0
    """Experts of one layer, 0 in a dense model."""
    experts_per_token: int = 0
    aliases: tuple[str, ...] = ()
    source: str
    published: date
    """When the source was."""

    @property
    def dense(self) -> bool:
        return self.experts == 0


@cache
def known_models() -> dict[str, Model]:
    """Public models by name."""
    file = read(FILE)
    found: dict[str, Model] = {}
    for name, row in file["models"].items():
        values = {**file["defaults"], **row, "name": name}
        values["active"] = values["active"] or values["parameters"]
        found[name] = build(Model, FILE, name, values)
    return found


def model_of(asked: str | float) -> Model:
    """The model of this name, or a dense one of this many parameters, such as 13e9 or "13B"."""
    if isinstance(asked, str):
        folded = asked.strip().casefold().replace("_", "-").replace(" ", "-")
        by_name = {alias: m for m in known_models().values() for alias in (m.name, *m.aliases)}
        if folded in by_name:
            return by_name[folded]
        if not folded[:1].isdigit() and not folded.startswith(("-", "+", ".")):
            likely = near(folded, list(by_name)) or [name for name in by_name if folded and folded in name][:3]
            fix = f"did you mean {' or '.join(likely)}?" if likely else f"name one of {', '.join(known_models())}"
            raise SizingError(
                f"model: {shown(asked)} is not a model that is known here", f"{fix} A size such as 13B does, too"
            )
    return _of_size(count_of("model", asked, "13B or 70e9"))


def _of_size(parameters: int) -> Model:
    """A dense model of the usual shape: N = 12 L h^2 (Kaplan et al., arXiv 2001.08361, equation 2.1) with h = 128 L."""
    if not SMALLEST <= parameters <= LARGEST:
        raise SizingError(
            f"model: {parameters:,} parameters are not a model that needs a cluster's arithmetic",
            f"write a size from {SMALLEST:,} to {LARGEST:,}, such as 13B",
        )
    layers = max(1, round((parameters / (12 * ASPECT**2)) ** (1 / 3)))
    step = 8 * ASPECT if parameters > 10**9 else ASPECT
    hidden = max(step, round((parameters / (12 * layers)) ** 0.5 / step) * step)
    return Model(
        name=f"{parameters / 1e9:g}B",
        parameters=parameters,
        active=parameters,
        layers=layers,
        hidden=hidden,
        heads=hidden // ASPECT,
        kv_heads=hidden // ASPECT,
        intermediate=4 * hidden,
        vocabulary=GUESSED_VOCABULARY,
        sequence=GUESSED_SEQUENCE,
        source="shape guessed from the number of parameters alone, by arXiv 2001.08361",
        published=date(2020, 1, 23),
    )
