import gc
import os
import signal
from threading import Thread

import pytest

from possibal.processes import collector_paused, interrupts_ignored

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs signals of POSIX")


def ctrl_c():
    """What the terminal does to this process."""
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_is_not_heard_inside_and_is_heard_again_after():
    with interrupts_ignored():
        ctrl_c()
    with pytest.raises(KeyboardInterrupt):
        ctrl_c()


def test_ctrl_c_is_heard_again_after_an_error():
    usual = signal.getsignal(signal.SIGINT)
    with pytest.raises(LookupError), interrupts_ignored():
        raise LookupError
    assert signal.getsignal(signal.SIGINT) is usual


def test_another_thread_may_work_but_not_decide_for_all():
    seen = []

    def work():
        with interrupts_ignored():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]
    assert seen != [signal.SIG_IGN]


def test_the_collector_rests_inside_and_goes_on_after_even_an_error():
    with collector_paused():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(LookupError), collector_paused():
        raise LookupError
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off():
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
