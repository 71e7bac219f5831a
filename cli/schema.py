"""`gpu-clusters schema`: the JSON Schema of a stack file, on standard output; `stacks/schema.json` is made by it."""

from __future__ import annotations

import argparse
import json


def add_arguments(_parser: argparse.ArgumentParser) -> None:
    """Takes none."""


def run(_arguments: argparse.Namespace) -> int:
    from planning.jsonschema import stack_schema

    print(json.dumps(stack_schema(), indent=2))
    return 0
