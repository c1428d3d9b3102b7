from possibal.campaign.html import LONGEST, NextRow, campaign_html
from possibal.campaign.stopping import Advice, AdviceState

ADVICE = Advice(AdviceState.GO_ON, "3 of 9 rows < could.", 0.0, 3, None)


def test_it_shows_progress_balance_advice_and_the_next_rows():
    rows = [NextRow(7, {"age": 1 / 3, "note": None}, "Perhaps no.")]
    page = campaign_html("Campaign", 8, {"no": 1, "yes": 1}, ADVICE, rows)
    assert "2 of 8 rows have a label. no: 1, yes: 1" in page
    assert "width:25.0%" in page
    assert "<b>Go on.</b> 3 of 9 rows &lt; could." in page
    for cell in ("next", "age", "note", "why", "7", "0.333333", "", "Perhaps no."):
        assert f">{cell}</t" in page


def test_whatever_a_user_wrote_is_escaped_and_cut():
    rows = [NextRow("<script>", {"<b>": "<i>" * LONGEST}, "<u>")]
    page = campaign_html("<p>", 8, {"<q>": 1}, ADVICE, rows)
    for word in ("<script>", "<i>", "<u>", "<q>", "<p>"):
        assert word not in page
    assert "…" in page


def test_no_rows_make_no_table():
    assert "<table" not in campaign_html("Campaign", 2, {}, ADVICE, [])
