import warnings
from dataclasses import replace

import pytest
from support.exchanged import labelled, pool_of

from possibal.labelling.exchange import hugging_face


def written(pool, folder):
    for name, content in hugging_face.folder_files(pool).items():
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture(name="loaded")
def _loaded(tmp_path):
    """What `datasets` makes of a folder, with no network and no cache of ours."""
    datasets = pytest.importorskip("datasets")

    def load(pool):
        folder = tmp_path / "hf"
        folder.mkdir()
        written(pool, folder)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of libraries that it loads
            return datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))

    return load


@pytest.mark.works_with(
    "Hugging Face datasets", "labelled rows out, with `ClassLabel` features", "datasets"
)
def test_datasets_loads_the_folder_with_classes_as_class_labels(tmp_path, loaded):
    with pool_of(labelled(tmp_path, check=6)) as (pool, read_model):
        found = loaded(pool)
        told = {row.item.id: row for row in pool.rows}
        check = {read_model.ids[row] for row in read_model.check_rows}
    label = found["train"].features["label"]
    assert label.names == ["small", "large"]
    assert set(found["test"]["id"]) == {name for name in check if told[name].label}
    assert found["train"].num_rows + found["test"].num_rows == 8
    assert found["unlabelled"].num_rows == 22
    for split in found:
        for one in found[split]:
            row = told[one["id"]]
            said = None if one["label"] is None else label.int2str(one["label"])
            assert (said, one["necessity"]) == (row.label, row.necessity)
            assert one["width"] == row.cells["width"]


def test_names_of_classes_and_columns_may_be_odd(tmp_path, loaded):
    with pool_of(labelled(tmp_path)) as (pool, _):
        setup = replace(pool.setup, fields=("a: 'b'", "label", "id"))
        names = {"small": "a: b", "large": '"# é'}
        rows = tuple(replace(row, label=names.get(row.label), predicted=None) for row in pool.rows)
        odd = replace(pool, classes=tuple(names.values()), setup=setup, rows=rows)
    found = loaded(odd)["train"]
    assert found.features["label"].names == ["a: b", '"# é']
    assert {"a: 'b'", "row label", "row id"} <= set(found.features)


def test_pictures_are_columns_of_paths(tmp_path):
    with pool_of(labelled(tmp_path)) as (pool, _):
        row = replace(pool.rows[0], item=replace(pool.rows[0].item, media="1.png"))
        shown = replace(pool, setup=replace(pool.setup, folder="/shots"), rows=(row,))
    found = hugging_face.folder_files(shown)
    assert set(found) == {"README.md", "unlabelled.parquet"}
    assert b'name: "image"' in found["README.md"]
