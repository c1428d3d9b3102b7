"""Guides that are run as they are read: files, sessions of Python, and commands, in order.

A fenced block of a guide is one of these, by its first words:

- ``python`` with prompts is a session; one page is one session.
- ``console`` is lines that begin with ``$ `` and what a terminal shows after them.
- anything with a file's name after the language, such as ``csv messages.csv``, is that file.

In expected output ``...`` stands for anything. A server's output has ``^C`` where it is
interrupted, as in a terminal.
"""

import doctest
import io
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import httpx

from possibal.cli.main import main

FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*(?:\\\n.*)*)\n?", re.MULTILINE)
PATIENCE = 120.0
STOPPED = "^C"
READY = "Stop with Ctrl-C."
"""What a server says when it is reached."""
TERMINAL = {"COLUMNS": "100", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file that it is if any, its text, and its line."""

    language: str
    file: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(*found["info"].strip().partition(" ")[::2], found["body"], _line(text, found))
        for found in FENCE.finditer(text)
    ]


def _line(text: str, found: re.Match[str]) -> int:
    return text.count("\n", 0, found.start()) + 1


def follow(page: Path) -> str:
    """What went wrong in following a page in the present folder: nothing, if it is right."""
    examples = [example for block in blocks(page) for example in _examples(block)]
    test = doctest.DocTest(examples, {"_run": _run, "_keep": _keep}, page.name, str(page), 0, None)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    said = list[str]()
    runner.run(test, out=said.append)
    return "".join(said)


def _examples(block: Block) -> Iterator[doctest.Example]:
    """What a block asks for, as lines of Python with what they print."""
    if block.file:
        source = f"_keep({block.file!r}, {block.text!r})\n"
        yield doctest.Example(source, "", lineno=block.line)
    elif block.language == "console":
        parts = COMMAND.split(block.text)
        for command, shown in zip(parts[1::2], parts[2::2], strict=True):
            is_server = f"\n{STOPPED}" in shown
            source = f"_run({command!r}, {is_server})\n"
            yield doctest.Example(source, shown, lineno=block.line)
    elif block.language == "python":
        for example in doctest.DocTestParser().get_examples(block.text, block.file):
            example.lineno += block.line
            yield example


def _keep(name: str, text: str) -> None:
    """Write a file of the page, in the present folder."""
    Path(name).write_text(text, encoding="utf-8")


def _run(command: str, is_server: bool) -> None:  # noqa: FBT001 - written by the lines above
    """Print what a terminal would show of a command."""
    words = shlex.split(command.replace("\\\n", " "))
    assert words[0] == "possibal", command
    said = _served(words) if is_server else _called(words[1:])
    print("\n".join(line.rstrip() for line in said.splitlines()))  # noqa: T201 - for doctest


def _called(arguments: list[str]) -> str:
    """What a command says, here and now: a process of its own takes seconds to start."""
    kept = io.BytesIO()
    said = io.TextIOWrapper(kept, encoding="utf-8", write_through=True)
    with redirect_stdout(said), redirect_stderr(said), patch.dict(os.environ, TERMINAL):
        main(arguments)
    return kept.getvalue().decode()


def _served(words: list[str]) -> str:
    """What a server says until it is interrupted and after; at any port, without a browser."""
    process = subprocess.Popen(  # noqa: S603 - our own code
        [sys.executable, "-m", *words, "--no-browser", "--port", "0"],
        env={**os.environ, **TERMINAL},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    )
    said = "".join(_until_ready(process))
    address = re.search(r"http://[\d.:]+/", said)
    assert address is not None, said
    assert httpx.get(f"{address[0]}api/session", timeout=PATIENCE, trust_env=False).is_success
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=PATIENCE)
    return f"{said}{STOPPED}{rest}"


def _until_ready(process: subprocess.Popen[str]) -> Iterator[str]:
    """The lines of a server up to the one that says it is reached."""
    assert process.stdout is not None
    for line in process.stdout:
        yield line
        if READY in line:
            return
