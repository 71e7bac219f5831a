"""Vaults and keys, logs, alerts and budgets."""

from __future__ import annotations

import uuid

from localcloud.azure.identity import TENANT
from localcloud.azure.kind import AzureKind
from localcloud.kinds import Call
from localcloud.values import Properties

_VAULT_API = "2024-11-01"
_INSIGHTS = "Microsoft.Insights/"


def _vault(call: Call) -> Properties:
    properties = dict(call.inputs.get("properties") or {})
    uri = f"https://{call.inputs['vaultName']}.vault.azure.net/"
    return {"properties": {"tenantId": TENANT, **properties, "vaultUri": uri}}


def _key(call: Call) -> Properties:
    uri = f"https://{call.inputs['vaultName']}.vault.azure.net:443/keys/{call.inputs['keyName']}"
    return {"keyUri": uri, "keyUriWithVersion": f"{uri}/{uuid.uuid4().hex}"}


KINDS = (
    AzureKind(
        token="azure-native:keyvault:Vault",
        path="Microsoft.KeyVault/vaults/{vaultName}",
        api=_VAULT_API,
        shortest=3,
        longest=24,
        pattern=r"^[a-zA-Z][a-zA-Z0-9-]+$",
        immutable=("location",),
        derive=_vault,
    ),
    AzureKind(
        token="azure-native:keyvault:Key",
        path="Microsoft.KeyVault/vaults/{vaultName}/keys/{keyName}",
        api=_VAULT_API,
        longest=127,
        pattern=r"^[a-zA-Z0-9-]+$",
        create=_key,
    ),
    AzureKind(
        token="azure-native:operationalinsights:Workspace",
        path="Microsoft.OperationalInsights/workspaces/{workspaceName}",
        shortest=4,
        longest=63,
        immutable=("location",),
        create=lambda _: {"customerId": str(uuid.uuid4())},
    ),
    AzureKind(token="azure-native:monitor:ActionGroup", path=_INSIGHTS + "actionGroups/{actionGroupName}", longest=260),
    AzureKind(token="azure-native:monitor:MetricAlert", path=_INSIGHTS + "metricAlerts/{ruleName}", longest=260),
    AzureKind(
        token="azure-native:monitor:ActivityLogAlert",
        path=_INSIGHTS + "activityLogAlerts/{activityLogAlertName}",
        longest=260,
    ),
    AzureKind(
        token="azure-native:monitor:DiagnosticSetting",
        path="{resourceUri}/providers/Microsoft.Insights/diagnosticSettings/{name}",
        longest=260,
    ),
    AzureKind(
        token="azure-native:consumption:Budget",
        path="{scope}/providers/Microsoft.Consumption/budgets/{budgetName}",
        longest=63,
        immutable=("scope",),
        create=lambda _: {"currentSpend": {"amount": 0, "unit": "USD"}},
    ),
)
