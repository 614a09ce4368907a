"""Containerfile, compose.yaml and kubernetes.yaml, as far as no engine is needed."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from scrapy.settings import Settings

from mmcrawl.crawl import FocusedParams
from mmcrawl.settings import value_of
from tests.tables import each

ROOT = Path(__file__).resolve().parents[2]
CONTAINERFILE = ROOT / "Containerfile"
KNOWN = frozenset(["ARG", "FROM", "ENV", "WORKDIR", "RUN", "COPY", "USER", "ENTRYPOINT"])
HOST = re.compile(r"\b[\w-]+(\.[\w-]+)*\.(io|com|org|net|dev)\b|\w:\d+/")
SERVER = "mongodb://mongodb:27017/"


@pytest.fixture(scope="module")
def stages() -> list[list[tuple[str, str]]]:
    """The instructions of each stage: name and arguments."""
    text = re.sub(r"^#.*\n", "", CONTAINERFILE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = [line for line in re.sub(r"\\\n\s*", " ", text).splitlines() if line.strip()]
    instructions = [tuple(line.split(maxsplit=1)) for line in lines]
    starts = [number for number, (name, _) in enumerate(instructions) if name == "FROM"]
    ends = [*starts[1:], len(instructions)]
    return [instructions[start:end] for start, end in zip(starts, ends, strict=True)]  # type: ignore[misc]


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    told: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    return told


def values(stage: list[tuple[str, str]], name: str) -> list[str]:
    return [arguments for instruction, arguments in stage if instruction == name]


def test_the_image_runs_scrapy_with_our_settings_as_an_ordinary_user(stages) -> None:  # type: ignore[no-untyped-def]
    final = stages[-1]
    assert {name for stage in stages for name, _ in stage} <= KNOWN
    assert values(final, "COPY") == ["--from=build /opt/mmcrawl /opt/mmcrawl"]
    assert values(final, "ENTRYPOINT") == ['["scrapy"]']
    assert values(final, "USER") == ["1000"]
    after = [name for name, _ in final][[name for name, _ in final].index("USER") :]
    assert "RUN" not in after
    assert "SCRAPY_SETTINGS_MODULE=mmcrawl.settings" in " ".join(values(final, "ENV"))


def test_what_is_copied_is_there_and_is_sent_to_the_builder(stages) -> None:  # type: ignore[no-untyped-def]
    copied = [name for line in values(stages[0], "COPY") for name in line.split()[:-1]]
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in lines
    assert {line[1:] for line in lines if line.startswith("!")} == set(copied)
    for name in copied:
        assert (ROOT / name).exists(), name
    assert {"mmcrawl", "dictionaries", "pyproject.toml"} <= set(copied)


@each("name", ["Containerfile", "compose.yaml", "docs/kubernetes.yaml"])
def test_no_registry_is_named(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    images = re.findall(r"^\s*(?:FROM|image:)\s+(\S+)", text, flags=re.MULTILINE)
    assert images
    assert [image for image in images if "/" in image or HOST.search(image)] == []


def test_workers_can_be_scaled_and_wait_for_the_server(compose: dict[str, Any]) -> None:
    worker = compose["services"]["worker"]
    assert not {"container_name", "ports"} & worker.keys()  # both would allow one worker only
    assert worker["depends_on"] == {"mongodb": {"condition": "service_healthy"}}
    assert worker["restart"] == "on-failure"
    build = worker["build"]
    assert (ROOT / build["context"] / build["dockerfile"]).resolve() == CONTAINERFILE


@each("given", [None, "-a topic=physics-senior -a seeds=http://example.org/wuli/ -a job=wuli"])
def test_the_command_of_a_worker_is_a_shared_crawl(compose: dict[str, Any], given: str) -> None:
    command = re.sub(
        r"\$\{CRAWL:-(.*?)\}",
        lambda match: given or match[1],
        compose["services"]["worker"]["command"],
    )
    words = shlex.split(command)
    assert words[:2] == ["crawl", "focused"]
    assert words[2::2] == ["-a"] * (len(words[2:]) // 2)
    params = FocusedParams(**dict(word.split("=", 1) for word in words[3::2]))
    assert params.store_uri.startswith(SERVER)
    assert params.job_name == ("wuli" if given else "demo")


@pytest.fixture(scope="module")
def pods() -> dict[str, Any]:
    """What runs on Kubernetes, by kind."""
    text = (ROOT / "docs" / "kubernetes.yaml").read_text(encoding="utf-8")
    return {told["kind"]: told for told in yaml.safe_load_all(text)}


def test_workers_on_kubernetes_run_a_shared_crawl_and_serve_their_figures(pods):
    template = pods["Job"]["spec"]["template"]
    [worker] = template["spec"]["containers"]
    arguments = worker["args"]
    assert arguments[:2] == ["crawl", "focused"]
    told = list(zip(arguments[2::2], arguments[3::2], strict=True))
    params = FocusedParams(**dict(word.split("=", 1) for flag, word in told if flag == "-a"))
    assert params.store_uri.startswith(SERVER)
    assert params.job_name == "wuli"
    metrics = dict(told)["-s"].removeprefix("MMCRAWL_METRICS=")
    value_of(Settings({"MMCRAWL_METRICS": metrics}), "MMCRAWL_METRICS")
    port = metrics.rpartition(":")[2]
    assert template["metadata"]["annotations"]["prometheus.io/port"] == port
    assert [str(port["containerPort"]) for port in worker["ports"]] == [port]
    assert template["spec"]["securityContext"]["runAsUser"] == 1000
