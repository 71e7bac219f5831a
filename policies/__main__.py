"""The pack as the engine starts it. A `PolicyPack` serves until the engine is done: it is built only here."""

from pulumi_policy import EnforcementLevel, PolicyPack

from policies.pack import NAME, POLICIES

PolicyPack(NAME, POLICIES, enforcement_level=EnforcementLevel.MANDATORY)
