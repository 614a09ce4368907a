"""What pages need to be seen waits behind their links: each address once, and not too many."""

from mmcrawl.frontier import RequisiteLimits, RequisiteQueue, SqliteStore

PAGE, OTHER = 1, 2
STYLE, LOGO, FONT = "http://h.test/a.css", "http://h.test/logo.png", "http://fonts.test/f.woff"


def opened(
    store: SqliteStore, *, per_page: int = 2, page_bytes: int = 100, most: int = 9
) -> RequisiteQueue:
    limits = RequisiteLimits(per_page, page_bytes, most, most_bytes=150)
    return RequisiteQueue(store, store.job("crawl", {}).number, limits)


def kept(queue: RequisiteQueue, store: SqliteStore, *urls: str, page: int = PAGE) -> None:
    queue.keep(urls, page)
    store.commit()
    queue.committed()


def taken(queue: RequisiteQueue, origin: str = "http://") -> list[str]:
    found = iter(lambda: queue.take(lambda one: one.startswith(origin)), None)
    return [one.url for one in found]


def test_an_address_waits_once_however_many_pages_name_it(store: SqliteStore) -> None:
    queue = opened(store, most=3)
    queue.keep([STYLE, LOGO], PAGE)
    assert taken(queue) == []  # until they are durable
    kept(queue, store, STYLE, FONT, page=OTHER)
    kept(queue, store, "http://h.test/fourth.png", page=3)
    assert queue.waiting == {"http://h.test": 2, "http://fonts.test": 1}
    assert taken(queue, "http://fonts") == [FONT]
    assert taken(queue) == [STYLE, LOGO]
    assert not queue.waiting
    assert queue.tally()[2] == {"too many": 1}


def test_what_style_sheets_name_comes_first_and_has_room_of_its_own(store: SqliteStore) -> None:
    queue = opened(store)
    kept(queue, store, STYLE, LOGO, "http://h.test/third.png")
    sheet = queue.take(lambda _: True)
    assert sheet is not None
    queue.keep([f"http://h.test/{number}.woff" for number in range(3)], PAGE, sheet)
    store.commit()
    queue.committed()
    queue.end(sheet, size=7)
    assert taken(queue) == ["http://h.test/0.woff", "http://h.test/1.woff", LOGO]
    assert queue.tally() == (1, 7, {"too many": 2})


def test_imports_lead_on_for_five_steps(store: SqliteStore) -> None:
    queue = opened(store, per_page=20, most=20)
    kept(queue, store, "http://h.test/0.css")
    steps = 0
    while (sheet := queue.take(lambda _: True)) is not None:
        steps += 1
        queue.keep([f"http://h.test/{steps}.css"], PAGE, sheet)
        store.commit()
        queue.committed()
        queue.end(sheet)
    assert steps == 6


def test_a_page_and_a_crawl_have_room_for_so_many_bytes(store, monkeypatch) -> None:
    monkeypatch.setattr("mmcrawl.frontier.requisites._MOST_PAGES", 1)  # others are summed again
    queue = opened(store)
    kept(queue, store, STYLE, LOGO)
    kept(queue, store, FONT, page=OTHER)
    style, logo = (queue.take(lambda one: "h.test" in one) for _ in range(2))
    font = queue.take(lambda _: True)
    assert logo is not None
    assert style.room == font.room == 100
    assert queue.accept(style, 80)
    assert not queue.accept(logo, 21)  # the page has 20 left
    assert not queue.accept(font, 71)  # the crawl has 70
    assert queue.accept(font, 70)
    queue.end(style, size=80)
    queue.end(font, size=70)
    queue.end(logo, "too large")
    kept(queue, store, "http://h.test/more.png", page=3)
    assert taken(queue) == []
    full = "more bytes than its page, or the crawl, may have"
    assert queue.tally() == (2, 150, {"too large": 1, full: 1})


def test_what_was_under_way_waits_again_when_the_crawl_goes_on(store: SqliteStore) -> None:
    queue = opened(store)
    kept(queue, store, STYLE, LOGO)
    first = queue.take(lambda _: True)
    assert first is not None
    queue.end(first, size=5)
    assert taken(queue) == [LOGO]
    store.commit()
    again = opened(store)
    assert taken(again) == [LOGO]
    assert again.tally() == (1, 5, {})


def test_origins_take_turns_so_that_a_free_one_is_soon_found(store: SqliteStore) -> None:
    queue, asked = opened(store, per_page=4), []
    kept(queue, store, STYLE, LOGO, FONT)
    assert taken(queue) == [STYLE, FONT, LOGO]
    kept(queue, store, *(f"http://{n}.test/" for n in range(4)), page=OTHER)
    queue.take(lambda _: True)
    queue.take(lambda one: bool(asked.append(one)) or one != "http://0.test")
    assert asked == ["http://1.test"]
