import numpy as np
import pandas as pd
import pytest
from PIL import Image
from support.passengers import labelled, passengers

from possibal import Campaign, open_campaign
from possibal.campaign.question import QuestionField, RowDisplay, picture_file, question_fields
from possibal.data.features import ImageFiles


def test_cells_are_as_people_read_them():
    found = question_fields(["a", "b", "c", "d"], [1 / 3, None, float("nan"), 7], {"d"})
    assert found == (
        QuestionField("a", "0.333333"),
        QuestionField("b", None),
        QuestionField("c", None),
        QuestionField("d", "7", is_important=True),
    )


def test_a_question_says_what_the_row_is_and_what_is_predicted():
    frame, survived = passengers()
    campaign = labelled(Campaign.start(frame, classes=[0, 1]), survived, 10)
    (row,) = campaign.ask()
    found = campaign.question(row)
    assert (found.row, found.name, found.said) == (row, str(row), None)
    assert [one.name for one in found.fields] == ["Sex", "Age", "Fare"]
    assert found.fields[0].value == frame.loc[row, "Sex"]
    assert found.predicted.label == campaign.predict(frame.loc[[row]])[0]
    chance = campaign.predict_proba(frame.loc[[row]]).max()
    assert found.predicted.chance == campaign.snapshot.calibration.stated(chance)
    assert f"Perhaps {found.predicted.label} ({found.predicted.chance.value:.0%})" in found.why
    told = next(iter(campaign.labels))
    assert campaign.question(told).said == campaign.labels[told]
    with pytest.raises(ValueError, match="row must be an id of the pool; got 'nobody'"):
        campaign.question("nobody")


def test_nothing_is_predicted_before_two_classes_are_told_and_an_array_has_no_columns():
    campaign = Campaign.start(np.arange(8.0)[:, None], classes=["a", "b"])
    found = campaign.question(3)
    assert (found.fields, found.text, found.picture, found.predicted) == ((), None, None, None)
    assert found.why == "It stands for many others."


def test_a_stored_campaign_says_the_same_of_its_rows_in_the_words_of_the_page(tmp_path):
    frame, survived = passengers()
    with open_campaign(tmp_path / "a.db", frame, classes=[0, 1]) as campaign:
        labelled(campaign, survived, 10)
        (row,) = campaign.ask()
        found = campaign.question(row)
        assert [one.name for one in found.fields] == ["Sex", "Age", "Fare"]
        assert found.predicted.label in {0, 1}
        assert any(one.is_important for one in found.fields)
        assert found.why.startswith("It ")
        told = next(iter(campaign.labels))
        assert campaign.question(told).said == campaign.labels[told]


def test_text_and_copies_are_there_in_both(tmp_path):
    rows = [{"id": f"r{at}", "say": f"word {at // 2} of many", "n": at // 2} for at in range(12)]
    options = {"ids": "id", "text": "say", "by": "words", "classes": ["x", "y"]}
    frame = pd.DataFrame(rows)
    memory = Campaign.start(frame, **options)
    with open_campaign(tmp_path / "a.db", frame, **options) as stored:
        for campaign in (memory, stored):
            found = campaign.question("r4")
            assert (found.text, found.copies) == ("word 2 of many", 1)
            assert [one.name for one in found.fields] == ["n"]


def test_a_picture_is_the_file_and_a_folder_tells_no_label(tmp_path):
    for at in range(6):
        folder = tmp_path / "pool" / ("ants" if at % 2 else "bees")
        folder.mkdir(parents=True, exist_ok=True)
        points = np.random.default_rng(at).integers(0, 256, (20, 20, 3), dtype=np.uint8)
        Image.fromarray(points).save(folder / f"{at}.png")
    with open_campaign(tmp_path / "a.db", tmp_path / "pool", by="colours") as campaign:
        row = campaign.rows[0]
        found = campaign.question(row)
        assert found.picture == tmp_path / "pool" / row
        assert found.name == row.rpartition("/")[2]
        campaign.edit(row, "ants")
        assert campaign.question(row).name == row


def test_a_picture_of_a_frame_is_found_until_it_is_gone(tmp_path):
    Image.new("RGB", (4, 4)).save(tmp_path / "a.png")
    display = RowDisplay(("n",), None, ImageFiles(tmp_path, ("a.png", "b.png")))
    assert display.picture(0) == picture_file(tmp_path, "a.png") == tmp_path / "a.png"
    assert display.picture(1) is None
    assert RowDisplay().picture(0) is None
