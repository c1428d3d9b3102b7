"""A real PostgreSQL for tests: one server a session, a fresh database a test.

A test file that wants it says ``pytest_plugins = ["support.postgres"]`` and asks
for ``postgresql``.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

ELSEWHERE = os.environ.get("CI") != "true"
"""Whether a missing server may skip a test; where all is checked, it fails."""
SUPERUSER = "postgres"


@dataclass(frozen=True)
class Server:
    """A server that listens on a socket in its own folder, and nowhere else."""

    programs: Path
    folder: Path

    @property
    def data(self) -> Path:
        """Where it keeps its databases."""
        return self.folder / "data"

    def run(self, program: str, *arguments: str) -> None:
        """Run one of its programs, as a user that it accepts: it refuses root."""
        line = [str(self.programs / program), "-D", str(self.data), *arguments]
        as_user = ["runuser", "-u", SUPERUSER, "--"] if is_root() else []
        log = self.folder / "log"
        with log.open("ab") as told:
            done = subprocess.run([*as_user, *line], stdout=told, stderr=told, check=False)  # noqa: S603 - our own line
        assert done.returncode == 0, log.read_text(errors="replace")

    def start(self) -> None:
        """Make its folder, and listen."""
        if is_root():
            shutil.chown(self.folder, SUPERUSER)
        plain = ["-A", "trust", "-U", SUPERUSER, "-E", "UTF8", "--locale=C", "--no-sync"]
        self.run("initdb", *plain)
        self.listen()

    def listen(self) -> None:
        """Listen, for the first time or again."""
        options = f"-c listen_addresses='' -c unix_socket_directories='{self.folder}' -c fsync=on"
        self.run("pg_ctl", "start", "--wait", "-o", options, "-l", str(self.data / "server.log"))

    def stop(self) -> None:
        """End it by its own process id, at once."""
        self.run("pg_ctl", "stop", "--wait", "-m", "immediate")

    def address(self, name: str) -> str:
        """How to reach one of its databases."""
        return f"postgresql://{SUPERUSER}@/{name}?host={self.folder}"

    def execute(self, statement: str) -> None:
        """Run a statement outside any transaction."""
        where = {"host": str(self.folder), "user": SUPERUSER, "dbname": "postgres"}
        with psycopg.connect(**where, autocommit=True) as connection:
            connection.execute(statement)


def is_root() -> bool:
    """Whether the tests run as root."""
    return os.geteuid() == 0


def programs() -> Path | None:
    """The folder of the newest PostgreSQL here."""
    packaged = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=_release)
    found = str(packaged[-1]) if packaged else shutil.which("initdb")
    return Path(found).parent if found else None


def _release(program: Path) -> float:
    """The version that a program's folder is named by."""
    return float(program.parents[1].name)


@contextmanager
def running() -> Iterator[Server]:
    """A server of its own, in a folder that is gone afterwards."""
    found = programs()
    assert found is not None, "PostgreSQL must be installed where everything is checked"
    server = Server(found, Path(tempfile.mkdtemp(prefix="possibal-pg-")))
    try:
        server.start()
        yield server
    finally:
        if (server.data / "postmaster.pid").exists():
            server.stop()
        shutil.rmtree(server.folder)


@contextmanager
def database(server: Server) -> Iterator[str]:
    """The address of an empty database."""
    name = f"test_{uuid4().hex}"
    server.execute(f"CREATE DATABASE {name}")
    yield server.address(name)
    server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def fresh() -> Iterator[str]:
    """The address of an empty database on a server of its own."""
    with running() as server, database(server) as address:
        yield address


@pytest.fixture(scope="session", name="postgres_server")
def _postgres_server() -> Iterator[Server]:
    """A server for the whole session."""
    if programs() is None and ELSEWHERE:
        pytest.skip("needs PostgreSQL")
    with running() as server:
        yield server


@pytest.fixture(name="postgresql")
def _postgresql(postgres_server: Server) -> Iterator[str]:
    """The address of an empty database."""
    with database(postgres_server) as address:
        yield address
