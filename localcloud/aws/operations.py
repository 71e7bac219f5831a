"""Logs, alarms, dashboards, budgets and topics."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

from localcloud.aws.kind import AwsKind, among
from localcloud.kinds import Ref
from localcloud.schema import Failure
from localcloud.values import Properties

LOG_GROUP = "aws:cloudwatch/logGroup:LogGroup"
TOPIC = "aws:sns/topic:Topic"
_RETENTION_DAYS = (0, 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731)
_RETENTION_YEARS = (1096, 1827, 2192, 2557, 2922, 3288, 3653)


def _check_log_group(inputs: Properties) -> Iterator[Failure]:
    return among(inputs, "retentionInDays", _RETENTION_DAYS + _RETENTION_YEARS)


KINDS = (
    AwsKind(
        token=LOG_GROUP,
        id_form="{name}",
        named="name",
        longest=512,
        arn="arn:{partition}:logs:{region}:{account}:log-group:{name}",
        immutable=("name", "namePrefix", "logGroupClass"),
        defaults={"retentionInDays": 0, "skipDestroy": False},
        check=_check_log_group,
        taken=("ResourceAlreadyExistsException", "The specified log group already exists"),
    ),
    AwsKind(
        token="aws:cloudwatch/metricAlarm:MetricAlarm",
        id_form="{name}",
        named="name",
        arn="arn:{partition}:cloudwatch:{region}:{account}:alarm:{name}",
        immutable=("name",),
        defaults={"actionsEnabled": True, "treatMissingData": "missing"},
    ),
    AwsKind(
        token="aws:cloudwatch/dashboard:Dashboard",
        id_form="{name}",
        named="dashboardName",
        scope="account",
        tagged=False,
        arn="arn:{partition}:cloudwatch::{account}:dashboard/{name}",
        arn_output="dashboardArn",
        immutable=("dashboardName",),
    ),
    AwsKind(
        token="aws:budgets/budget:Budget",
        named="name",
        id_form="{account}:{name}",
        scope="account",
        arn="arn:{partition}:budgets::{account}:budget/{name}",
        immutable=("name", "namePrefix", "accountId"),
        defaults={"timePeriodEnd": "2087-06-15_00:00"},
        taken=("DuplicateRecordException", "the budget already exists: {name}"),
    ),
    AwsKind(
        token=TOPIC,
        id_form="arn:{partition}:sns:{region}:{account}:{name}",
        named="name",
        arn="arn:{partition}:sns:{region}:{account}:{name}",
        immutable=("name", "namePrefix", "fifoTopic"),
    ),
    AwsKind(
        token="aws:sns/topicSubscription:TopicSubscription",
        id_of=lambda inputs: f"{inputs['topic']}:{uuid.uuid4()}",
        arn="{id}",
        tagged=False,
        immutable=("topic", "protocol", "endpoint"),
        refs=(Ref(path="topic", target=TOPIC, by="arn", holds=False),),
        create=lambda _: {"pendingConfirmation": True},
    ),
)
