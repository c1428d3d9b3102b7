"""Signature of `possibal home`, which `possibal` alone runs; its work is imported when it runs."""

from pathlib import Path
from typing import Annotated

import typer

from possibal.cli.console import mistakes
from possibal.cli.label import (
    Certificate,
    CertificateKey,
    Host,
    OtherHosts,
    Port,
    PublicAddress,
)
from possibal.progress import announce


def home(  # noqa: PLR0913 - one argument per option
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="Where campaigns and files are kept; left out: this folder."
        ),
    ] = Path(),
    *,
    host: Host = "127.0.0.1",
    allow_host: OtherHosts = None,
    port: Port = None,
    address: PublicAddress = None,
    tls_cert: Certificate = None,
    tls_key: CertificateKey = None,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
) -> None:
    """Start in the browser: the campaigns of a folder, and new ones of files that you drop there.

    `possibal` alone does the same.
    """
    announce(f"Starting home of {folder.absolute()}.")  # imports take a second or two
    from possibal.cli import home_session, label_session
    from possibal.labelling.web.server import Address

    with mistakes():
        certificate = label_session.certificate(tls_cert, tls_key)
        at = Address(host, port, tuple(allow_host or ()), address, certificate)
    home_session.serve(folder, at, browser=browser)
