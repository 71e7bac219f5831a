"""The real program on mocks: what it declares, without an engine, a cloud or credentials.

`gpu-clusters plan` lists resources from here, and the tests judge declarations here, so that neither can drift from
what `pulumi up` declares. The recorder keeps each registration whole: inputs, options, dependencies.
"""

from __future__ import annotations

import asyncio
import contextvars
import copy
import gc
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi.runtime import mocks, rpc, settings, stack

from components.program import build
from planning.facts.network import prefix_for
from planning.plan import Plan

ACCOUNT = "123456789012"
SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
REGION = "us-east-1"
AMI = "ami-0123456789abcdef0"


@dataclass(frozen=True, slots=True)
class Registered:
    """One resource as the program registered it."""

    urn: str
    type: str
    name: str
    request: Any
    """The raw RegisterResourceRequest: options, dependencies, property dependencies."""
    inputs: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DryRun:
    resources: tuple[Registered, ...]
    """Custom resources, by type and name: the order of registration differs from run to run."""
    components: tuple[Registered, ...]
    exports: Mapping[str, Any]
    hooks: Mapping[str, Callable[[Any], Any]]
    """What the engine would call before and after its steps, by name."""

    @property
    def requests(self) -> dict[str, Any]:
        return {r.urn: r.request for r in (*self.components, *self.resources)}


class DuplicateUrnError(Exception):
    """Two resources have one URN, which the engine refuses and plain mocks let pass."""


Answers = Mapping[str, Mapping[str, Any]]
"""What lookups say, by the token of the function."""


class _Mocks(mocks.Mocks):
    """Computed outputs that the program reads. In a preview they are unknown, as the engine leaves them."""

    def __init__(self, preview: bool, answers: Answers) -> None:
        self.preview = preview
        self.answers = answers
        self.nodes = 0
        """Of the Auto Scaling group: the mocks start all that it asks for."""

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        state = {key: _as_output(value) for key, value in args.inputs.items()}
        if args.typ == "aws:autoscaling/group:Group":
            least = args.inputs["minSize"]
            self.nodes = int(least) if isinstance(least, int | float) else 0
        if args.resource_id:  # read, which a preview does, too
            return args.resource_id, {**_computed(args), **state}
        if self.preview:
            return None, {**_drawn(args), **state}
        return f"{args.name}-id", {**_computed(args), **state}

    def call(self, args: mocks.MockCallArgs) -> Any:
        match args.token:
            case "aws:ssm/getParameter:getParameter":
                return {"id": args.args["name"], "name": args.args["name"], "value": AMI, "type": "String"}
            case "aws:ec2/getInstances:getInstances":
                return {
                    "id": REGION,
                    "ids": ["i-0"] * self.nodes,
                    "privateIps": [],
                    "publicIps": [],
                    "ipv6Addresses": [],
                }
            case "azure-native:compute:getVirtualMachineScaleSet":
                return {"id": args.args["vmScaleSetName"], "sku": {"capacity": 0}}  # of an elastic one: none runs yet
            case "azure-native:authorization:getClientConfig":
                return {"clientId": "", "objectId": "", "subscriptionId": SUBSCRIPTION, "tenantId": ""}
            case token if token in self.answers:
                return {"id": args.args.get("id", token), **self.answers[token]}
            case token:
                raise ValueError(f"the dry run knows no answer to {token}")


def _drawn(args: mocks.MockResourceArgs) -> dict[str, Any]:
    """The names that a provider draws before it makes anything: a preview knows them."""
    return {"bucket": args.name} if args.typ == "aws:s3/bucket:Bucket" else {}


def _as_output(value: Any) -> Any:
    """Azure takes the identities of a resource as a list and gives them back as a mapping by id."""
    if isinstance(value, dict) and isinstance(value.get("userAssignedIdentities"), list):
        return {**value, "userAssignedIdentities": {}}
    return value


def _computed(args: mocks.MockResourceArgs) -> dict[str, Any]:
    short, name = args.typ.split(":")[-1], args.name
    by_type: dict[str, dict[str, Any]] = {
        "Bucket": {"bucket": name, "arn": f"arn:aws:s3:::{name}"},
        "KeyPair": {"keyName": name},
        "CapacityBlockReservation": {"startDate": "2026-11-20T11:30:00Z"},
        "Fleet": {"fulfilledCapacity": args.inputs.get("targetCapacitySpecification", {}).get("totalTargetCapacity")},
        "LaunchTemplate": {"latestVersion": 1},
        "LustreFileSystem": {"dnsName": f"{name}.fsx.invalid", "mountName": "mount123"},
        "Subnet": {"availabilityZone": "zone-a"},
        "VpcEndpoint": {"prefixListId": f"pl-{name}"},
        "UserAssignedIdentity": {"principalId": SUBSCRIPTION, "clientId": SUBSCRIPTION},
        "AmlFilesystem": {"clientInfo": {"mgsAddress": "10.0.0.4", "mountCommand": "", "lustreVersion": ""}},
    }
    return {
        "name": args.inputs.get(_OWN_NAME.get(short, ""), name),
        "arn": f"arn:aws:mock:::{name}",
        **by_type.get(short, {}),
    }


_OWN_NAME = {
    "ResourceGroup": "resourceGroupName",
    "VirtualNetwork": "virtualNetworkName",
    "Subnet": "subnetName",
    "StorageAccount": "accountName",
    "PrivateEndpoint": "privateEndpointName",
    "PrivateZone": "privateZoneName",
}


class _Recorder(mocks.MockMonitor):
    def __init__(self, cloud: mocks.Mocks) -> None:
        super().__init__(cloud)
        self.requests: dict[str, Any] = {}
        self.hooks: dict[str, Callable[[Any], Any]] = {}
        self.exports: Mapping[str, Any] = {}

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 - the name of the RPC
        urn = self.make_urn(request.parent, request.type, request.name)
        if urn in self.requests:
            raise DuplicateUrnError(f"two resources are {request.type} {request.name}")
        self.requests[urn] = request
        return super().RegisterResource(request)

    def register_resource_hook(self, hook: pulumi.ResourceHook) -> None:
        """In place of the server that an engine calls back."""
        self.hooks[hook.name] = hook.callback

    def register_error_hook(self, hook: pulumi.ErrorHook) -> None:
        self.hooks[hook.name] = hook.callback

    def RegisterResourceOutputs(self, request: Any) -> Any:  # noqa: N802 - the name of the RPC
        if "pulumi:pulumi:Stack" in request.urn:
            self.exports = rpc.deserialize_properties(request.outputs, keep_unknowns=True)
        return super().RegisterResourceOutputs(request)


class _Outputs(set[asyncio.Future[Any]]):
    """What the SDK waits for at the end, as one: task by task it looks at all the others after each, which is a sixth
    of the time of a dry run.
    """

    def __iter__(self) -> Iterator[asyncio.Future[Any]]:
        return iter([asyncio.gather(*super().__iter__())])


def dry_run(plan: Plan, *, preview: bool = False) -> DryRun:
    """Declares the plan's cluster on mocks. `preview` leaves computed outputs unknown, as `pulumi preview` does."""

    def program() -> None:
        for name, value in build(plan).exports.items():
            pulumi.export(name, value)

    return run(program, preview=preview, answers=fitting_network(plan))


def fitting_network(plan: Plan) -> Answers:
    """What is found of an existing network in which the plan fits, since no cloud is asked."""
    subnet = {"availabilityZoneId": plan.zone, "availabilityZone": "zone-a", "mapPublicIpOnLaunch": False}
    # Of every subnet the same: one that holds the nodes, and the filesystem's servers.
    prefix = min(prefix_for(plan.network.needed), plan.network.filesystem.prefixlen if plan.network.filesystem else 32)
    return {
        "aws:ec2/getSubnet:getSubnet": {**subnet, "cidrBlock": f"0.0.0.0/{prefix_for(plan.network.needed)}"},
        "aws:ec2/getVpc:getVpc": {"enableDnsSupport": True, "enableDnsHostnames": True},
        "azure-native:network:getSubnet": {"addressPrefix": f"0.0.0.0/{prefix}"},
        "azure-native:network:getVirtualNetwork": {
            "id": plan.existing_network.vpc if plan.existing_network else "",
            "location": plan.region,
            "addressSpace": {"addressPrefixes": [f"0.0.0.0/{prefix}"]},
        },
    }


def run(
    program: Callable[[], None],
    *,
    preview: bool = False,
    answers: Answers | None = None,
    cloud: mocks.Mocks | None = None,
) -> DryRun:
    """Any program on mocks; `cloud` takes the place of ours. Raises what the program raises, also inside an `apply`."""
    recorder = _Recorder(cloud or _Mocks(preview, answers or {}))

    def prepared() -> None:
        pulumi.runtime.register_stack_transformation(_without_type_aliases)
        program()

    def isolated() -> None:
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        loop.set_default_executor(ThreadPoolExecutor(1))
        # One error fails many registrations: the first is raised, and the others need no log when they are dropped.
        loop.set_exception_handler(lambda _loop, _context: None)
        try:
            settings.configure(
                mocks.MockSettings(
                    monitor=recorder,
                    engine=mocks.MockEngine(None),
                    project="gpu-clusters",
                    stack="dry-run",
                    dry_run=preview,
                    organization="organization",
                    callbacks=recorder,
                    # Said, or the outputs that a failed program left would be awaited by the next one.
                    outputs=_Outputs(),
                    monitor_features=set(recorder.GetDeploymentInfo(None).supportedFeatures),
                )
            )
            loop.run_until_complete(stack.run_in_stack(prepared))
        finally:
            for task in (left := asyncio.all_tasks(loop)):
                task.cancel()
            loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
            loop.run_until_complete(loop.shutdown_default_executor())
            asyncio.set_event_loop(None)
            loop.close()

    # Loading an SDK makes hundreds of thousands of lasting objects; to look among them for garbage takes long.
    collecting = gc.isenabled()
    gc.disable()
    try:
        contextvars.Context().run(isolated)
    finally:
        if collecting:
            gc.enable()
    recorded = sorted((_registered(*item) for item in recorder.requests.items()), key=lambda r: (r.type, r.name))
    return DryRun(
        resources=tuple(r for r in recorded if r.request.custom and not r.type.startswith("pulumi:")),
        components=tuple(r for r in recorded if not r.request.custom or r.type.startswith("pulumi:")),
        exports=recorder.exports,
        hooks=recorder.hooks,
    )


def _without_type_aliases(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult:
    """Azure's SDK names dozens of older types of each resource; to work them out is most of the time of a dry run."""
    aliases = [a for a in args.opts.aliases or () if not (isinstance(a, pulumi.Alias) and isinstance(a.type_, str))]
    opts = copy.copy(args.opts)
    opts.aliases = aliases
    return pulumi.ResourceTransformationResult(props=args.props, opts=opts)


def _registered(urn: str, request: Any) -> Registered:
    inputs = rpc.deserialize_properties(request.object, keep_unknowns=True)
    return Registered(urn=urn, type=request.type, name=request.name, request=request, inputs=inputs)
