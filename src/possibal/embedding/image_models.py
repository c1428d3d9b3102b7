"""Picture models in ONNX that a user named: shape, scale and output of the graph are found out."""

from pathlib import Path
from typing import Any

from possibal.embedding.embedder import ImageInput
from possibal.embedding.model_files import ModelFiles
from possibal.embedding.onnx_models import (
    BATCH,
    FEATURE_MAP,
    PIXELS,
    OnnxImageEmbedder,
    graph_files,
    open_graph,
)
from possibal.embedding.preprocessing import FILES, Preprocessing, read_preprocessing

OUTPUTS = ("image_embeds", "pooler_output")
LOGITS = ("logits", "classLabelProbs", "probabilities")
"""Outputs that name classes of others: taken where there is nothing else."""
COLOURS = 3


def read_image_graph(files: ModelFiles, graph: Path) -> OnnxImageEmbedder:
    """The embedder of an ONNX file with the preprocessing that lies beside it."""
    parts = graph_files(graph)
    identity = files.identity(*parts, *map(files.beside, FILES))
    session = open_graph(parts)
    shape = _input_shape(files, session)
    channels_first = shape[3] != COLOURS or shape[1] == COLOURS
    sides = shape[2:] if channels_first else shape[1:3]
    steps = _preprocessing(files, session, sides)
    return OnnxImageEmbedder(
        identity=identity,
        steps=steps,
        session=session,
        output=_output(session),
        channels_first=channels_first,
        batch=shape[0] or BATCH,
    )


def _input_shape(files: ModelFiles, session: Any) -> list[int]:  # noqa: ANN401 - it is not always there
    """The four sizes of the only input, 0 where they are free; refused if it reads no pictures."""
    entries = session.get_inputs()
    said = ", ".join(f"{entry.name} {entry.type}" for entry in entries)
    if len(entries) != 1 or entries[0].type not in PIXELS or len(entries[0].shape) != FEATURE_MAP:
        raise files.refused(
            "read pictures, by one input of four axes",
            f"which has {said or 'none'}",
            "Take a model of pictures, exported without the rest of it.",
        )
    shape = [size if isinstance(size, int) else 0 for size in entries[0].shape]
    if COLOURS not in (shape[1] or COLOURS, shape[3]):
        raise files.refused("read colours", f"whose input is {shape}", "Take another.")
    if shape[0] > 1:
        raise files.refused(
            "take any number of pictures", f"which takes {shape[0]}", "Export it with dynamic axes."
        )
    return shape


def _preprocessing(files: ModelFiles, session: Any, sides: list[int]) -> Preprocessing:  # noqa: ANN401 - the same
    """The preprocessing that the files name, if the graph takes pictures of that size."""
    raw = session.get_inputs()[0].type == "tensor(uint8)"
    found = read_preprocessing(files)
    if found is None and raw and sides[0] and sides[0] == sides[1]:  # it scales them itself
        found = Preprocessing(ImageInput(sides[0]), (0.0,) * COLOURS, (1.0,) * COLOURS)
    if found is None:
        raise files.refused(
            f"come with a {FILES[0]}, which says how pictures are resized and scaled",
            "which has none",
            "Write one beside it with size, image_mean and image_std.",
        )
    side = found.image_input.size
    if any(size not in (0, side) for size in sides):
        raise files.refused(
            f"take pictures of the {side} x {side} points that its {FILES[0]} says",
            f"which takes {sides[0]} x {sides[1]}",
            "Correct that file.",
        )
    plain = Preprocessing(found.image_input, (0.0,) * COLOURS, (1.0,) * COLOURS)
    return plain if raw else found


def _output(session: Any) -> str:  # noqa: ANN401 - the same
    """The output that is taken: a pooled one, one of two axes, a map or tokens, else classes."""
    outputs = session.get_outputs()
    names = [found.name for found in outputs if found.name not in LOGITS]
    flat = [found.name for found in outputs if len(found.shape or ()) == 2 and found.name in names]  # noqa: PLR2004 - rows, columns
    usual = [name for name in OUTPUTS if name in names]
    return next(iter((*usual, *flat, *names, outputs[0].name)))
