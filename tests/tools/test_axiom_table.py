import axiom_table


def marks(text):
    """The lines of the tables, without the counterexamples."""
    return [line for line in text.splitlines() if line.startswith(("| ", "### "))]


def test_the_page_is_what_the_search_makes_of_it():
    page = axiom_table.PAGE.read_text()
    made = axiom_table.page(page)
    assert marks(made) == marks(page)
    assert made.split(axiom_table.BEGIN)[0] == page.split(axiom_table.BEGIN)[0]
    assert made.split(axiom_table.END)[1] == page.split(axiom_table.END)[1]
