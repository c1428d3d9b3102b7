"""What the Dockerfile says, done here: the image itself is built by whoever has Docker."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from support.served import HERE, PATIENCE, free_port

ROOT = Path(__file__).parents[2]
LINES = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text(encoding="utf-8")).splitlines()


def told(instruction: str) -> list[str]:
    """What stands behind an instruction, wherever it is."""
    return [line.partition(" ")[2] for line in LINES if line.startswith(f"{instruction} ")]


def argv(text: str) -> list[str]:
    """A command in brackets."""
    return json.loads(text[text.index("[") :])


def test_what_is_copied_is_there_and_not_left_out():
    kept = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for line in told("COPY"):
        *sources, _ = [word for word in line.split() if not word.startswith("--from")]
        for source in sources if "--from" not in line else ():
            assert (ROOT / source).exists()
            assert f"!{source}" in kept


def test_extras_are_those_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (extras,) = re.findall(r"\.\[([\w,]+)\]", "\n".join(told("RUN")))
    assert set(extras.split(",")) <= set(project["optional-dependencies"])


def test_it_runs_without_rights_and_keeps_campaigns_in_a_volume():
    assert told("USER") == ["possibal"]
    assert told("VOLUME") == told("WORKDIR")[1:] == ["/campaigns"]
    assert told("EXPOSE") == ["8765"]


@pytest.mark.skipif(os.name != "posix", reason="needs signals of POSIX")
@pytest.mark.works_with("Docker", "what the Dockerfile runs")
def test_its_command_serves_is_well_and_ends_by_its_signal(tmp_path):
    port = str(free_port())
    entry, command = argv(told("ENTRYPOINT")[0]), argv(told("CMD")[0].replace("8765", port))
    check = argv(told("HEALTHCHECK")[0].replace("8765", port))
    (stop,) = told("STOPSIGNAL")
    assert (entry, check[0]) == (["possibal"], "python")
    is_well = [sys.executable, *check[1:]]
    line = [sys.executable, "-m", *entry, *command]
    assert subprocess.run(is_well, check=False, capture_output=True).returncode != 0  # noqa: S603 - our own code
    with subprocess.Popen(line, cwd=tmp_path, env=HERE, stdout=subprocess.PIPE) as process:  # noqa: S603 - as above
        try:
            until = time.monotonic() + PATIENCE
            while subprocess.run(is_well, check=False, capture_output=True).returncode:  # noqa: S603 - as above
                assert time.monotonic() < until
                assert process.poll() is None
        finally:
            process.send_signal(getattr(signal, stop))
        said = process.communicate(timeout=PATIENCE)[0].decode()
    assert process.returncode == 0
    assert f"Home at http://127.0.0.1:{port}/#join=" in said
