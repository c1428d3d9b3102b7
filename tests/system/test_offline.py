"""With the network cut, texts and pictures are embedded, labelled, learnt from and predicted."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

import possibal

STORY = """
import socket
import sys
from pathlib import Path


def cut(*_, **__):
    raise OSError("the network is cut")


for name in ("create_connection", "getaddrinfo", "gethostbyname"):
    setattr(socket, name, cut)
socket.socket.connect = cut

from possibal.cli import main
from possibal.data.ingest import SourceSpec, ingest_file
from possibal.labelling.create import Options, create_campaign

source, new = map(Path, sys.argv[1:])
intake = ingest_file(SourceSpec(source, cache=Path("c.possibal.embeddings")), lambda *_: None)
assert any("were compared by what they" in note for note in intake.notes), intake.notes
create_campaign("a.db", intake, Options()).close()
assert main.main(["model", "a.db", "--to", "model"]) == 0
assert main.main(["predict", "model", str(new), "--to", "out.csv"]) == 0
"""


def isolated() -> list[str]:
    """What runs a command without a network, where the system lets us; the story cuts it too."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return []
    for flags in (["-n"], ["-r", "-n"]):
        found = subprocess.run([unshare, *flags, "true"], capture_output=True, check=False)  # noqa: S603 - ours
        if not found.returncode:
            return [unshare, *flags]
    return []


def texts(folder: Path) -> tuple[str, str]:
    """Labelled texts, and new ones."""
    rows = [
        (f"{what} {how} when we came back", label)
        for label, things in {"food": ["soup", "dinner"], "room": ["room", "bed"]}.items()
        for what in (f"the {thing} in this hotel was" for thing in things)
        for how in ("bad", "awful", "rather poor")
    ]
    lines = [f"{i},{text},{label}" for i, (text, label) in enumerate(rows)]
    (folder / "notes.csv").write_text("\n".join(["id,note,label", *lines]))
    (folder / "new.csv").write_text("id,note\na,a bowl of soup\nb,the hotel bedroom\n")
    return "notes.csv", "new.csv"


def pictures(folder: Path) -> tuple[str, str]:
    """Pictures in folders of their classes, and new ones."""
    for place in range(8):
        label = "food" if place % 2 else "room"
        path = folder / "shots" / label / f"{place}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        colour = (220, 12 * place, 0) if place % 2 else (0, 12 * place, 220)
        Image.new("RGB", (24, 24), colour).save(path)
    (folder / "new").mkdir()
    Image.new("RGB", (24, 24), (210, 30, 10)).save(folder / "new" / "a.png")
    Image.new("RGB", (24, 24), (10, 30, 210)).save(folder / "new" / "b.png")
    return "shots", "new"


@pytest.mark.parametrize("made", [texts, pictures])
def test_a_campaign_needs_no_network(tmp_path, made):
    source, new = made(tmp_path)
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(possibal.__file__).parents[1]),
        "HOME": str(tmp_path),  # nothing that was downloaded before is found
    }
    command = [*isolated(), sys.executable, "-c", STORY, source, new]
    ended = subprocess.run(  # noqa: S603 - ours
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert [line.split(",")[1] for line in lines[1:]] == ["food", "room"]
