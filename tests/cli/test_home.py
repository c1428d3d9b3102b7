"""The command line of the home page."""

import inspect
from pathlib import Path

import pytest

from possibal.cli import home, main


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_the_command_is_one_of_the_command_line():
    assert main.COMMANDS["home"][0] is home.home


def test_options_reach_the_session(monkeypatch):
    served = []
    monkeypatch.setattr(
        "possibal.cli.home_session.serve", lambda *given, **how: served.append((given, how))
    )
    names = ("--allow-host", "a.example", "--address", "https://b.example", "--no-browser")
    assert main.main(["home", "work", "--host", "0.0.0.0", "--port", "9", *names]) == 0  # noqa: S104 - as users do
    (((folder, address), how),) = served
    assert (folder, how) == (Path("work"), {"browser": False})
    assert (address.host, address.port) == ("0.0.0.0", 9)  # noqa: S104 - as above
    assert (address.names, address.public) == (("a.example",), "https://b.example")
    assert set(inspect.signature(home.home).parameters) == {
        "folder", "host", "allow_host", "port", "address", "tls_cert", "tls_key", "browser"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("home a.csv", "folder must be a folder that can be written; got 'a.csv'"),
        ("home --address nonsense", "address must be http or https and a name"),
        ("home --tls-key key.pem", "tls_cert must be given with tls_key"),
        ("home --port 80000", "port must be free"),
        ("home a b", "unexpected extra argument"),
    ],
)
def test_a_mistake_is_told_in_one_line(line, words, capsys):
    Path("a.csv").touch()
    assert main.main([*line.split(), *(["--no-browser"] if " b" not in line else [])]) == 2
    shown, told = capsys.readouterr()
    assert (shown, told.count("\n"), words in told) == ("", 1, True)
