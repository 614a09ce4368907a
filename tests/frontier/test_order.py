"""The order of waiting links, against the plainest thing that could keep it: a dictionary."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from mmcrawl.frontier import PendingOrder

LINKS, HOSTS = 40, 4
scores = st.integers(0, 5).map(float)


class NaiveOrder:
    """Waiting links with host and score; the best is found by looking at all."""

    def __init__(self):
        self.waiting = {}
        self.held = {}

    def pop(self, ready):
        free = [link for link, (host, _) in self.waiting.items() if host in ready]
        best = max(free, key=lambda link: (self.waiting[link][1], -link), default=None)
        self.waiting.pop(best, None)
        return best


class OrderAgainstModel(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.order = PendingOrder()
        self.model = NaiveOrder()

    @initialize(data=st.data(), count=st.integers(0, LINKS), on_disk=st.booleans())
    def fill(self, data, count, *, on_disk):
        if on_disk:  # next to nothing is held in memory
            self.order = PendingOrder(most_hot=4, fewest_hot=1)
        for link in range(count):
            self._push(link, data.draw(st.integers(0, HOSTS - 1)), data.draw(scores))

    def _push(self, link, host, score):
        self.order.push(link, host, score)
        self.model.held.pop(link, None)
        self.model.waiting[link] = (host, score)

    @rule(link=st.integers(0, LINKS - 1), host=st.integers(0, HOSTS - 1), score=scores)
    def push(self, link, host, score):
        if link not in self.model.waiting:
            self._push(link, host, score)

    @precondition(lambda self: self.model.waiting)
    @rule(data=st.data(), score=scores)
    def rescore(self, data, score):
        link = data.draw(st.sampled_from(sorted(self.model.waiting)))
        self.order.rescore(link, score)
        self.model.waiting[link] = (self.model.waiting[link][0], score)

    @precondition(lambda self: self.model.waiting)
    @rule(data=st.data())
    def rescore_many(self, data):
        links = data.draw(st.lists(st.sampled_from(sorted(self.model.waiting)), unique=True))
        new = [data.draw(scores) for _ in links]
        self.order.rescore_many(links, new)
        for link, score in zip(links, new, strict=True):
            self.model.waiting[link] = (self.model.waiting[link][0], score)

    @rule(link=st.integers(0, LINKS - 1), host=st.integers(0, HOSTS - 1))
    def hold(self, link, host):
        self.order.hold(link, host)
        self.model.waiting.pop(link, None)
        self.model.held[link] = host

    @precondition(lambda self: self.model.held)
    @rule(data=st.data(), score=scores)
    def release(self, data, score):
        link = data.draw(st.sampled_from(sorted(self.model.held)))
        self.order.release(link, score)
        self.model.waiting[link] = (self.model.held.pop(link), score)

    @precondition(lambda self: self.model.waiting)
    @rule(data=st.data())
    def remove(self, data):
        link = data.draw(st.sampled_from(sorted(self.model.waiting)))
        self.order.remove(link)
        del self.model.waiting[link]

    @rule(ready=st.sets(st.integers(0, HOSTS - 1)))
    def pop(self, ready):
        assert self.order.pop(ready.__contains__) == self.model.pop(ready)

    @invariant()
    def knows_what_waits(self):
        order, model = self.order, self.model
        assert len(order) == len(model.waiting)
        assert [link for link in range(LINKS) if link in order] == sorted(model.waiting)
        assert [link for link in range(LINKS) if order.is_held(link)] == sorted(model.held)
        assert all(order.score(link) == score for link, (_, score) in model.waiting.items())
        hosts = [host for host, _ in model.waiting.values()]
        assert order.hosts() == {host: hosts.count(host) for host in hosts}

    def teardown(self):
        everything = set(range(HOSTS))
        while self.model.waiting:
            assert self.order.pop() == self.model.pop(everything)
        assert self.order.pop() is None


OrderAgainstModel.TestCase.settings = settings(stateful_step_count=60, max_examples=30)
TestOrderAgainstModel = OrderAgainstModel.TestCase


def popped(order):
    return [order.pop() for _ in range(len(order))]


def test_the_best_link_of_a_host_may_change_any_number_of_times():
    order = PendingOrder()
    for link in range(12):
        order.push(link, link % 4, float(link))
    for step in range(500):
        order.rescore(step % 2 * 4, 100.0 + step)  # links 4 and 0, both of one host
    assert popped(order) == [4, 0, 11, 10, 9, 8, 7, 6, 5, 3, 2, 1]


def test_a_host_is_asked_for_only_while_it_has_links():
    order = PendingOrder()
    order.push(0, host=5, score=1.0)
    asked = []
    assert order.pop(lambda host: asked.append(host) or True) == 0
    assert order.pop(lambda host: asked.append(host) or True) is None
    assert asked == [5]
