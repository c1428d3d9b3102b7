"""Tables as files of every kind."""

import gzip
from io import BytesIO

import openpyxl
import polars as pl
import xlwt
from odf.opendocument import OpenDocumentSpreadsheet
from odf.table import Table as OdfTable
from odf.table import TableCell, TableRow
from odf.text import P

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
    if ending in BOOKS:
        frame = pl.read_csv(PLAIN.encode())
        return BOOKS[ending]([frame.columns, *frame.iter_rows()])
    frame = pl.read_csv(PLAIN.encode())
    text = {
        ".tsv": lambda: PLAIN.replace(",", "\t"),
        ".json": frame.write_json,
        ".jsonl": frame.write_ndjson,
        ".ndjson": frame.write_ndjson,
    }.get(ending.removesuffix(".gz"), lambda: PLAIN)()
    return gzip.compress(text.encode()) if ending.endswith(".gz") else text.encode()


def xlsx(rows, *others):
    """Rows as the first sheet of an Excel file, other sheets after it."""
    book = openpyxl.Workbook()
    for sheet in (book.active, *(book.create_sheet() for _ in others)):
        for row in (rows, *others)[book.index(sheet)]:
            sheet.append(row)
    book.save(buffer := BytesIO())
    return buffer.getvalue()


def xls(rows):
    """Rows as the sheet of an old Excel file."""
    book = xlwt.Workbook()
    sheet = book.add_sheet("Sheet")
    for place, row in enumerate(rows):
        for column, cell in enumerate(row):
            sheet.write(place, column, cell)
    book.save(buffer := BytesIO())
    return buffer.getvalue()


def ods(rows):
    """Rows as the sheet of an OpenDocument file."""
    book, sheet = OpenDocumentSpreadsheet(), OdfTable(name="Sheet")
    for row in rows:
        line = TableRow()
        for cell in row:
            number = {"value": cell} if isinstance(cell, int | float) else {}
            one = TableCell(valuetype="float" if number else "string", **number)
            one.addElement(P(text=str(cell)))
            line.addElement(one)
        sheet.addElement(line)
    book.spreadsheet.addElement(sheet)
    book.write(buffer := BytesIO())
    return buffer.getvalue()


BOOKS = {".xlsx": xlsx, ".xls": xls, ".ods": ods}
"""Spreadsheets of all kinds."""


def parquet(frame):
    """A polars frame as Parquet."""
    frame.write_parquet(buffer := BytesIO())
    return buffer.getvalue()
