"""A process that answers through pipes."""

from time import sleep

import pytest

from mmcrawl.store import ChildProcess, Questions


def test_a_child_whose_listener_fails_ends_and_its_parent_does_not_wait():
    child = ChildProcess(__name__)
    with pytest.raises(EOFError):
        child.ask("what it cannot understand")
    child.end()
    assert child.process.returncode == 1


def serve() -> None:
    """In the child: a listener that fails, beside work that does not end."""
    questions = Questions()

    def listen() -> None:
        asked, _ = questions.next()
        raise ValueError(asked)

    questions.in_thread(listen)
    while True:
        sleep(1)
