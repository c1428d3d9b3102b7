from possibal.experiments.streams import random_stream


def test_the_same_purpose_of_the_same_run_draws_the_same():
    assert random_stream(1, 2, "pool").random() == random_stream(1, 2, "pool").random()


def test_another_seed_run_or_purpose_draws_anew():
    keys = [(1, 2, "pool"), (2, 2, "pool"), (1, 3, "pool"), (1, 2, "ask")]
    assert len({random_stream(*key).random() for key in keys}) == 4
