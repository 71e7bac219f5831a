"""The command `images`: what it shows, what it asks AWS and what it writes. Rules about records: tests/planning.

AWS is an HTTP server on this machine, to which boto3 really speaks; no request can leave.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs

import pytest
import yaml

from cli.main import main
from planning.facts.imagerecord import FILE, read_records

X86 = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-22.04/latest/ami-id"
ARM = "/aws/service/deeplearning/ami/arm64/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id"
OLD, NEW, OWN = "ami-0aaaaaaaaaaaaaaaa", "ami-0bbbbbbbbbbbbbbbb", "ami-0cccccccccccccccc"
SPEC: dict[str, Any] = {
    "name": "llama-70b",
    "cloud": "aws",
    "region": "us-east-1",
    "account": "123456789012",
    "zone": "use1-az6",
    "nodes": {"type": "p5.48xlarge", "count": 2},
}


@dataclass
class Aws:
    """What AWS has, and what it was asked."""

    parameters: dict[str, str] = field(default_factory=dict)
    images: dict[str, dict[str, Any]] = field(default_factory=dict)
    refuses: tuple[int, str] | None = None
    """Answers every request with this status and code."""
    asked: list[str] = field(default_factory=list)

    def has(self, ami: str, **changes: Any) -> None:
        self.images[ami] = {
            "name": f"Base GPU AMI {ami[-2:]}",
            "architecture": "x86_64",
            "imageState": "available",
            "rootDeviceName": "/dev/sda1",
            "rootDeviceType": "ebs",
            "deprecationTime": "2038-06-01T00:00:00.000Z",
            "size": 75,
            **changes,
        }

    def answer(self, target: str | None, body: bytes) -> tuple[int, str]:
        if target:
            return self._parameter(json.loads(body)["Name"])
        return self._image(parse_qs(body.decode())["ImageId.1"][0])

    def _parameter(self, name: str) -> tuple[int, str]:
        self.asked.append(name)
        if self.refuses:
            return self.refuses[0], json.dumps({"__type": self.refuses[1], "message": "no"})
        if name not in self.parameters:
            return 400, json.dumps({"__type": "ParameterNotFound", "message": ""})
        if self.parameters[name].startswith("<"):
            return 200, self.parameters[name]
        return 200, json.dumps({"Parameter": {"Name": name, "Type": "String", "Value": self.parameters[name]}})

    def _image(self, ami: str) -> tuple[int, str]:
        self.asked.append(ami)
        code = self.refuses[1] if self.refuses else "InvalidAMIID.NotFound"
        if self.refuses or ami not in self.images:
            return 400, f"<Response><Errors><Error><Code>{code}</Code><Message>no</Message></Error></Errors></Response>"
        image = dict(self.images[ami])
        disk = (
            f"<deviceName>{image['rootDeviceName']}</deviceName><ebs><volumeSize>{image.pop('size')}</volumeSize></ebs>"
        )
        rest = "".join(f"<{key}>{value}</{key}>" for key, value in image.items() if value is not None)
        return 200, (
            "<DescribeImagesResponse><imagesSet><item>"
            f"<imageId>{ami}</imageId>{rest}<blockDeviceMapping><item>{disk}</item></blockDeviceMapping>"
            "</item></imagesSet></DescribeImagesResponse>"
        )


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[Aws]:
    cloud = Aws({X86: OLD, ARM: NEW})
    cloud.has(OLD)
    cloud.has(NEW)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, text = cloud.answer(self.headers.get("X-Amz-Target"), body)
            answer = text.encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the argument
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
        yield cloud
        server.shutdown()


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Made up, and no file or service of this machine is looked at; without the server above nobody answers."""
    settings = {
        "AWS_ACCESS_KEY_ID": "none",
        "AWS_SECRET_ACCESS_KEY": "none",
        "AWS_CONFIG_FILE": "/dev/null",
        "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_MAX_ATTEMPTS": "1",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_PROFILE", raising=False)


@pytest.fixture
def stack(tmp_path: Path) -> Any:
    def write(name: str = "dev", **nodes: Any) -> str:
        path = tmp_path / f"Pulumi.{name}.yaml"
        spec = {**SPEC, "nodes": {**SPEC["nodes"], **nodes}}
        path.write_text(yaml.safe_dump({"config": {"gpu-clusters:cluster": spec}}))
        return str(path)

    return write


Shown = pytest.CaptureFixture[str]


def told(shown: Shown) -> list[dict[str, Any]]:
    return json.loads(shown.readouterr().out)["results"]


def test_without_update_the_command_shows_images_and_asks_nobody(stack: Any, aws: Aws, capsys: Shown) -> None:
    assert main(["images", stack(), "azure-nd-h100", "--format", "json"]) == 0
    ours, azure = told(capsys)
    assert ours["image"] == {"region": "us-east-1", "asked": X86, "record": None, "was": None}
    assert [f["rule"] for f in ours["findings"]] == ["image-not-recorded"]
    assert azure["image"]["asked"].startswith("microsoft-dsvm:")
    assert aws.asked == []


def test_all_stacks_of_the_project_are_shown_when_none_is_named(capsys: Shown) -> None:
    assert main(["images"]) == 0
    text = capsys.readouterr().out
    assert all(f"{name}: " in text for name in ("aws-p5", "aws-single", "azure-nd-h100", "azure-single"))
    assert "pinned in the stack file or the catalogue" in text


def test_an_update_records_what_aws_says_and_check_has_nothing_left_to_say(
    stack: Any, aws: Aws, tmp_path: Path, capsys: Shown
) -> None:
    path = stack()
    assert main(["images", path, "--update", "--format", "json"]) == 0
    record = read_records(tmp_path)["us-east-1"][X86]
    assert record.model_dump(mode="json") == {
        "id": OLD,
        "name": "Base GPU AMI aa",
        "arch": "x86_64",
        "root_device": "/dev/sda1",
        "root_gib": 75,
        "deprecated": "2038-06-01",
        "recorded": date.today().isoformat(),
    }
    assert told(capsys)[0]["image"]["record"]["id"] == OLD
    assert main(["check", "--format", "json", path]) == 0
    assert told(capsys)[0]["findings"] == []
    assert aws.asked == [X86, OLD]


def test_a_newer_image_is_told_with_what_becomes_of_running_nodes_and_other_entries_stay(
    stack: Any, aws: Aws, tmp_path: Path, capsys: Shown
) -> None:
    aws.has(OWN, architecture="x86_64", rootDeviceName="/dev/xvda", size=30, deprecationTime=None)
    path, own = stack(), stack("own", image=OWN)
    assert main(["images", path, own, "--update"]) == 0
    before = read_records(tmp_path)["us-east-1"]
    assert (before[OWN].root_device, before[OWN].root_gib, before[OWN].deprecated) == ("/dev/xvda", 30, None)
    aws.parameters[X86] = NEW
    capsys.readouterr()
    assert main(["images", path, "--update"]) == 0
    assert f"{OLD} -> {NEW}; running nodes keep theirs until they are replaced" in capsys.readouterr().out
    after = read_records(tmp_path)["us-east-1"]
    assert (after[X86].id, after[OWN]) == (NEW, before[OWN])


def test_an_image_that_several_stacks_share_is_asked_for_once(stack: Any, aws: Aws) -> None:
    assert main(["images", stack("one"), stack("two"), "--update"]) == 0
    assert aws.asked == [X86, OLD]


def test_the_file_is_the_same_bytes_after_an_update_that_found_nothing_new(
    stack: Any, aws: Aws, tmp_path: Path
) -> None:
    path = stack()
    main(["images", path, "--update"])
    text = (tmp_path / FILE).read_text()
    main(["images", path, "--update"])
    assert (tmp_path / FILE).read_text() == text
    assert text.startswith("#")


def test_azure_images_are_pinned_by_version_and_nobody_is_asked(aws: Aws, capsys: Shown) -> None:
    assert main(["images", "azure-nd-h100", "--update"]) == 0
    assert "pinned" in capsys.readouterr().out
    assert aws.asked == []


@pytest.mark.parametrize(
    ("refusal", "code", "words"),
    [
        ((400, "AccessDeniedException"), 2, "ssm:GetParameter and ec2:DescribeImages"),
        ((400, "UnrecognizedClientException"), 2, "a region that the account has"),
        ((400, "ExpiredTokenException"), 2, "ExpiredTokenException"),
        ((500, "InternalServerError"), 2, "InternalServerError"),
        ((400, "ParameterNotFound"), 1, "no such parameter in this region"),
    ],
)
def test_a_refusal_says_why_and_leaves_every_file_as_it_was(
    refusal: tuple[int, str], code: int, words: str, stack: Any, aws: Aws, tmp_path: Path, capsys: Shown
) -> None:
    path = stack()
    main(["images", path, "--update"])
    before = (tmp_path / FILE).read_bytes()
    aws.refuses = refusal
    capsys.readouterr()
    assert main(["images", path, "--update"]) == code
    text = capsys.readouterr().out
    assert words in text
    assert "[image-look-up]" in text
    assert (tmp_path / FILE).read_bytes() == before
    assert [p.name for p in tmp_path.iterdir() if p.suffix == ".toml"] == [FILE]


def test_one_image_that_is_not_found_keeps_the_others_from_being_written(
    stack: Any, aws: Aws, tmp_path: Path, capsys: Shown
) -> None:
    assert main(["images", stack(), stack("own", image=OWN), "--update", "--format", "json"]) == 1
    assert [result["ok"] for result in told(capsys)] == [True, False]
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("AWS_ACCESS_KEY_ID", None, "aws sso login"),
        ("AWS_PROFILE", "no-such-profile", "no-such-profile"),
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:9", "Could not connect"),
    ],
)
def test_without_credentials_or_network_the_command_says_so_and_gives_2(
    variable: str,
    value: str | None,
    words: str,
    stack: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Shown,
) -> None:
    if value is None:
        monkeypatch.delenv(variable)
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    else:
        monkeypatch.setenv(variable, value)
    assert main(["images", stack(), "--update"]) == 2
    assert words in capsys.readouterr().out
    assert not (tmp_path / FILE).exists()


def test_the_page_of_a_proxy_is_no_answer(stack: Any, aws: Aws, capsys: Shown) -> None:
    aws.parameters[X86] = "<html>\nsign in</html>"
    assert main(["images", stack(), "--update"]) == 2
    text = capsys.readouterr().out
    assert "is not AWS" in text
    assert "sign in" not in text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"deprecationTime": "soon"}, "deprecated"),
        ({"platform": "windows"}, "Windows"),
        ({"rootDeviceType": "instance-store"}, "no root disk on EBS"),
        ({"imageState": "pending"}, "pending"),
        ({"architecture": "i386"}, "arch"),
        ({"name": "Bild f\u00fcr Knoten"}, "name"),
    ],
)
def test_an_image_that_no_node_can_be_made_from_is_not_recorded(
    changes: dict[str, Any], words: str, stack: Any, aws: Aws, tmp_path: Path, capsys: Shown
) -> None:
    aws.has(OLD, **changes)
    assert main(["images", stack(), "--update"]) == 1
    assert words in capsys.readouterr().out
    assert not (tmp_path / FILE).exists()


def test_an_image_of_the_other_architecture_is_recorded_and_the_stack_is_then_in_error(
    stack: Any, aws: Aws, capsys: Shown
) -> None:
    aws.has(OWN, architecture="arm64")
    assert main(["images", stack(image=OWN), "--update", "--format", "json"]) == 1
    assert [f["rule"] for f in told(capsys)[0]["findings"]] == ["image-does-not-fit"]


def test_a_damaged_record_is_told_and_never_written_over(stack: Any, aws: Aws, tmp_path: Path, capsys: Shown) -> None:
    (tmp_path / FILE).write_text("<<<<<<< HEAD\n")
    assert main(["images", stack(), "--update", "--format", "json"]) == 1
    assert [f["rule"] for f in told(capsys)[0]["findings"]] == ["image-record-unusable"]
    assert (tmp_path / FILE).read_text() == "<<<<<<< HEAD\n"
    assert aws.asked == []


def test_a_file_that_can_not_be_written_gives_2(
    stack: Any, aws: Aws, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Shown
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("cli.images.write", full)
    assert main(["images", stack(), "--update"]) == 2
    assert "No space left on device" in capsys.readouterr().out


def test_a_record_past_half_a_year_is_told(stack: Any, aws: Aws, tmp_path: Path, capsys: Shown) -> None:
    path = stack()
    main(["images", path, "--update"])
    long_ago = (date.today() - timedelta(days=181)).isoformat()
    text = (tmp_path / FILE).read_text().replace(f"recorded = {date.today()}", f"recorded = {long_ago}")
    (tmp_path / FILE).write_text(text)
    capsys.readouterr()
    assert main(["images", path]) == 0
    assert "[image-record-old]" in capsys.readouterr().out


def test_an_unknown_stack_gives_2_and_the_others_are_shown(stack: Any, capsys: Shown) -> None:
    assert main(["images", stack(), "aws-p4"]) == 2
    assert "recorded  nothing" in capsys.readouterr().out


def test_the_cloud_sdk_is_loaded_only_to_ask() -> None:
    code = "import sys; from cli.main import main; main(['images', 'aws-p5']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(done.stdout.splitlines()[-1].split()) & {"boto3", "botocore", "pulumi"}
