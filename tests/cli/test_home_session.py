"""`possibal` alone, from its address to its end."""

import re
import signal
from pathlib import Path
from threading import Event, Thread

import httpx
import pytest
from support.served import PATIENCE, free_port, is_there, joined, service_of, table

from possibal.cli import main
from possibal.data.source import SourceSpec
from possibal.labelling.serving import PORT, SERVED_AT
from possibal.labelling.storage.store import Store


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def visited(capsys, visit, *arguments: str) -> tuple[list, str]:
    """What somebody finds who comes in by the address that is printed, and all that is printed."""
    port, found, is_over = free_port(), [], Event()
    base = f"http://127.0.0.1:{port}"

    def come_and_go() -> None:
        try:
            if is_there(base, is_over):
                code = re.search(r"Home at \S+#join=([\w-]+)", printed := capsys.readouterr().out)
                session, _ = joined(base, code[1])
                known = {"Authorization": f"Bearer {session}"}
                with httpx.Client(base_url=base, timeout=PATIENCE, headers=known) as client:
                    found.extend([printed, visit(client)])
        finally:
            if not is_over.is_set():
                signal.raise_signal(signal.SIGINT)

    visitor = Thread(target=come_and_go)
    visitor.start()
    try:
        assert main.main(["home", *arguments, "--port", str(port), "--no-browser"]) == 0
    finally:
        is_over.set()
        visitor.join()
    return found, capsys.readouterr().out


def test_home_is_there_until_ctrl_c_and_says_how_far_all_is(capsys):
    wanted = SourceSpec(table(Path("a.csv"), rows=20), classes=("yes", "no"))
    with service_of(wanted, Path("a.csv.possibal.db")):
        pass

    def visit(client: httpx.Client) -> int:
        task = client.post("/api/open", json={"file": "a.csv.possibal.db"}).json()
        while not task["done"]:
            task = client.get("/api/task", params={"key": task["key"]}).json()
        return client.get(f"{task['place']}api/session").status_code

    (said, status), ending = visited(capsys, visit)
    assert status == 200
    assert f"Campaigns are kept in {Path.cwd()}. Stop with Ctrl-C." in said
    assert "From another machine" not in said
    assert ending == "a: 0 of 20 rows have a label, kept in a.csv.possibal.db.\n"
    with Store.open("a.csv.possibal.db", writes=False) as store:
        assert store.fact(SERVED_AT).endswith("/campaigns/a.csv.possibal.db")
        assert store.fact(PORT).isdecimal()


def test_whoever_came_in_stays_in_and_others_get_an_address(capsys):
    sessions = []

    def visit(client: httpx.Client) -> int:
        sessions.append(client.headers["Authorization"])
        return client.get("/api/home").status_code

    (_, status), ending = visited(capsys, visit, "work")
    assert (status, ending) == (200, "")

    def again(client: httpx.Client) -> int:
        known = {"Authorization": sessions[0]}
        return client.get("/api/home", headers=known).status_code

    (said, status), _ = visited(capsys, again, "work", "--allow-host", "a.example")
    assert status == 200
    assert "From another machine: http://a.example:" in said
