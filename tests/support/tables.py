"""Tables as files of every kind."""

import gzip
from io import BytesIO

import polars as pl

PLAIN = "a,b,y\n" + "".join(f"{i % 7},{i * 0.5},{'no' if i % 3 else 'yes'}\n" for i in range(12))
ARFF = "@relation r\n@attribute 'a b' numeric\n@attribute w {x,y,z}\n@attribute kind {p,q}\n@data\n"


def put(folder, name, content):
    """The path of a new file."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def bytes_of(ending):
    """The plain table in a kind of file."""
    if ending == ".parquet":
        return parquet(pl.read_csv(PLAIN.encode()))
    if ending == ".arff":
        head = "@relation r\n@attribute a real\n@attribute b real\n@attribute y {no,yes}\n@data\n"
        return (head + PLAIN.partition("\n")[2]).encode()
    if ending in {".jsonl", ".ndjson"}:
        return pl.read_csv(PLAIN.encode()).write_ndjson().encode()
    text = PLAIN.replace(",", "\t") if ending == ".tsv" else PLAIN
    return gzip.compress(text.encode()) if ending.endswith(".gz") else text.encode()


def parquet(frame):
    """A polars frame as Parquet."""
    frame.write_parquet(buffer := BytesIO())
    return buffer.getvalue()
