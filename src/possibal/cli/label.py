"""Signature of `possibal label`; its work, in label_session.py, is imported when it runs."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from possibal.arguments import DEFAULT_STRATEGY, choice
from possibal.cli.console import Kernel, mistakes
from possibal.progress import announce

COPIES = {"together": True, "apart": False}
"""What is done with rows that say the same."""

# What every command takes that serves a page.
Host: TypeAlias = Annotated[
    str,
    typer.Option(help="Address to listen on; 0.0.0.0 lets other machines in, too."),
]
OtherHosts: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME", help="Another name of this machine that browsers may use; repeatable."
    ),
]
Port: TypeAlias = Annotated[
    int | None,
    typer.Option(help="Port to listen on; left out: the one of last time, or a free one."),
]
PublicAddress: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Where people reach the page through a proxy, such as https://labels.example.org.",
    ),
]
Certificate: TypeAlias = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Certificate to encrypt with (PEM, with its chain)."),
]
CertificateKey: TypeAlias = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The key of that certificate (PEM).")
]


def label(  # noqa: PLR0913 - one argument per option
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="A CSV, TSV, Excel, Parquet, JSON, text or ARFF file, or a folder of pictures. "
            "Left out: built-in pictures of handwritten digits.",
        ),
    ] = None,
    *,
    label: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column with the labels that are known already."),
    ] = None,
    classes: Annotated[
        str, typer.Option(metavar="A,B,C", help="The labels that may be given.")
    ] = "",
    text: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B", help="Columns with texts to read; columns of prose if left out."
        ),
    ] = None,
    image: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column with the paths of pictures.")
    ] = None,
    id: Annotated[  # noqa: A002 - what users call it
        str | None, typer.Option(metavar="COLUMN", help="Column that names each row.")
    ] = None,
    use: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B", help="Columns to learn from, and no others; all that help if left out."
        ),
    ] = None,
    leave_out: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B", help="Columns to show, but not to learn from."),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORD",
            help="What is compared: texts by meaning or words, pictures by objects or colours, "
            "your own numbers as they are by numbers. Left out: meaning and objects, where the "
            "models for them are installed and understand the rows.",
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            "--model",
            "--encoder",
            metavar="DIR_OR_FILE",
            help="Your own model for texts or pictures: ONNX with its tokenizer.json or "
            "preprocessor_config.json, a static table, or the name of a plug-in; nothing is "
            "ever downloaded.",
        ),
    ] = None,
    features: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.npy",
            help="Your own numbers, a line for each row; from 100 columns on they are reduced "
            "to 50, unless --by numbers says otherwise.",
        ),
    ] = None,
    copies: Annotated[
        str,
        typer.Option(
            metavar="together|apart",
            help="Whether rows that say the same are asked once and labelled together: texts but "
            "for case and digits, pictures but for how they were saved.",
        ),
    ] = "together",
    encoding: Annotated[
        str | None, typer.Option(help="Of the file, if it is not UTF-8; for example cp1252.")
    ] = None,
    strategy: Annotated[
        str,
        typer.Option(help="What picks the next row; possibal strategies shows what there is."),
    ] = DEFAULT_STRATEGY,
    find: Annotated[
        str,
        typer.Option(
            metavar="CLASS",
            help="Find nearly all rows of one class, which may be rare: the likeliest of it are "
            "asked about first, and the page says how much of it was found. Without other classes, "
            "the second is “not CLASS”.",
        ),
    ] = "",
    multi: Annotated[
        bool,
        typer.Option(
            "--multi",
            help="A row may have several of the classes, one, or none; a cell of the label column "
            "joins them, as sport|health.",
        ),
    ] = False,
    kernel: Kernel = None,
    guidelines: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A text on how to label, shown beside every question; the page can change it.",
        ),
    ] = None,
    people: Annotated[int, typer.Option(help="How many people answer each row.")] = 1,
    check: Annotated[
        int,
        typer.Option(
            help="Rows drawn at random that measure the model, for a learning curve; "
            "every fifth question is about one of them."
        ),
    ] = 0,
    blind: Annotated[
        bool | None,
        typer.Option(
            "--blind/--open",
            help="Whether people answer without seeing what others and the model say of a row; "
            "blind if left out and several people answer each row.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same questions.")] = 0,
    db: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Where answers are kept: a file, or postgresql://USER@HOST/NAME for a team. "
            "Left out: beside FILE.",
        ),
    ] = None,
    host: Host = "127.0.0.1",
    allow_host: OtherHosts = None,
    port: Port = None,
    address: PublicAddress = None,
    tls_cert: Certificate = None,
    tls_key: CertificateKey = None,
    invite: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Print an address for somebody who answers under this name; repeatable.",
        ),
    ] = None,
    label_studio: Annotated[
        bool,
        typer.Option(
            "--label-studio",
            help="Print an address to connect Label Studio as a machine-learning backend: it is "
            "told predictions, and what is annotated there is kept here. The address works for 90 "
            "days, also without this option.",
        ),
    ] = False,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    accept_changes: Annotated[
        bool,
        typer.Option(
            "--accept-changes",
            help="Take in rows that changed or are missing since last time; labels stay.",
        ),
    ] = False,
) -> None:
    """Label a file in the browser: the most informative row first, every answer kept."""
    announce(f"Starting to label {file or 'built-in pictures'}.")  # imports take a second or two
    from possibal.cli import label_session
    from possibal.data.source import SourceSpec
    from possibal.labelling.create import Options
    from possibal.labelling.remarks import read_guidelines
    from possibal.labelling.storage.journal import check_who
    from possibal.labelling.web.server import Address

    with mistakes():
        told = None if guidelines is None else read_guidelines(guidelines)
        options = Options(strategy, seed, people, check, blind, find.strip(), multi)
        for name in invite or ():
            check_who(name)
        names = tuple(filter(None, map(str.strip, classes.split(",")))) or (classes,) * bool(
            classes
        )
        if options.find and not names and label is None:
            names = (options.find, f"not {options.find}")
        wanted = file and SourceSpec(
            file,
            label,
            id,
            tuple(text or ()),
            image,
            names,
            features,
            encoding,
            tuple(use or ()),
            tuple(leave_out or ()),
            by=tuple(by or ()),
            encoder=model,
            copies=choice("copies", copies, COPIES),
            multi=multi,
            kernel=kernel,
        )
        certificate = label_session.certificate(tls_cert, tls_key)
        at = Address(host, port, tuple(allow_host or ()), address, certificate)
    label_session.label(
        label_session.LabelRequest(
            wanted,
            options,
            db,
            at,
            browser,
            accept_changes,
            tuple(invite or ()),
            told,
            label_studio,
        )
    )
