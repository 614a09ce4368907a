"""What became of the blocks of a page that grew a new entry, or was cut otherwise."""

from collections import Counter
from pathlib import Path
from time import process_time

from mmcrawl.archive import Capture, Difference, open_archive
from mmcrawl.archive.comparing import comparison

URL = "http://a.test/"
NEWS = ["Levers lift heavy stones", "Pulleys turn ropes", "Lenses bend rays of light", "Gears mesh"]


def page(news: list[str], mark: int) -> bytes:
    entries = "".join(
        f"<div><h2 id='h{mark}'>{text}</h2><p id='p{mark}'>All about it: {text.lower()}.</p></div>"
        for text in news
    )
    return (
        "<html><body><div><p>Start</p><p>Contact us</p></div>"
        f"<div>{entries}</div><div><p>Imprint</p><p>Privacy</p></div></body></html>"
    ).encode()


def compared(tmp_path: Path, bodies: list[bytes], levels: list[int]) -> Difference:
    tmp_path.mkdir(exist_ok=True)
    with open_archive(f"sqlite:///{tmp_path}/a.sqlite") as archive:
        captures = [
            Capture(URL, body, float(n), content_type="text/html") for n, body in enumerate(bodies)
        ]
        old, new = (s.version for s in archive.store_many(captures, method="bwap", levels=levels))
        assert old is not None
        assert new is not None
        return archive.diff(old, new)


def test_an_entry_at_the_head_of_a_list_leaves_the_words_of_the_others_as_they_were(tmp_path):
    old, new = page(NEWS, mark=1), page(["Magnets attract iron", *NEWS], mark=2)
    blocks = compared(tmp_path, [old, new], [3, 3]).blocks
    texts = ["".join(word.text for word in block.words) for block in blocks]
    assert not any(texts)  # nothing but markup changed in what was there before
    added = [block.new.topic for block in blocks if block.change == "added" and block.new]
    assert "magnets attract iron" in " ".join(added).lower()
    assert not any(block.change == "removed" for block in blocks)


def boxes(*texts: str, tag: str = "div") -> bytes:
    inside = "".join(f"<{tag}><p>{text}</p></{tag}>" for text in texts)
    return (
        f"<html><head><title>Notes</title></head><body><div>{inside}</div></body></html>".encode()
    )


LONG = [f"{news} whenever somebody asks for it in class" for news in NEWS]


def test_a_block_that_moved_with_other_white_space_beside_a_changed_one_moved(tmp_path):
    first, *others, last = LONG
    new = boxes(*others, last.replace("mesh", "grind"), first.replace(" ", "\n  "))
    found = compared(tmp_path, [boxes(*LONG), new], [3, 3])
    moved = [block for block in found.blocks if block.change == "moved"]
    assert [(block.words, block.old is not None) for block in moved] == [((), True)]
    words = [(word.change, word.text.strip()) for b in found.blocks for word in b.words]
    assert [word for word in words if word[0] != "same"] == [
        ("removed", "mesh"),
        ("added", "grind"),
    ]
    assert not found.count("added")
    assert not found.count("removed")


def test_a_part_of_a_block_that_moved_within_it_is_told_as_moved(tmp_path: Path) -> None:
    old = f"<html><body><div>{'<br>'.join(NEWS)}</div></body></html>".encode()
    new = f"<html><body><div>{'<br>'.join([*NEWS[1:], NEWS[0]])}</div></body></html>".encode()
    found = compared(tmp_path, [old, new], [3, 3])
    assert [block.change for block in found.blocks] == ["moved"]
    moved = [word.text.strip() for word in found.blocks[0].words if word.change == "moved"]
    assert moved == [NEWS[0]]
    assert found.verdict == "layout"


def test_a_redesign_with_the_same_text_adds_and_removes_nothing(tmp_path: Path) -> None:
    old = boxes(*LONG)
    new = f"<html><body><main><ul><li>{'<br>'.join(LONG)}</ul></main></body></html>".encode()
    new = new.replace(b"<body>", b"<head><title>Notes</title></head><body>")
    found = compared(tmp_path, [old, new], [3, 3])
    assert found.verdict == "layout"
    assert set(found.summary()) <= {"changed", "recut"}
    changed = compared(tmp_path / "later", [old, new.replace(b"bend", b"break")], [3, 3])
    assert changed.verdict == "content"
    words = {(w.change, w.text.strip()) for b in changed.blocks for w in b.words}
    assert {("removed", "bend"), ("added", "break")} <= words


def test_another_encoding_leaves_all_blocks_as_they_were(tmp_path: Path) -> None:
    german = [text.replace("e", "ü") for text in LONG]
    text = boxes(*german).decode().replace("<head>", '<head><meta charset="utf-8">')
    old, new = text.encode(), text.replace("utf-8", "windows-1252").encode("cp1252")
    found = compared(tmp_path, [old, new], [3, 3])
    assert (found.verdict, set(found.summary())) == ("encoding", {"kept"})
    typo = new.replace(b"Gears".replace(b"e", "ü".encode("cp1252")), b"Wheels")
    assert compared(tmp_path / "typo", [old, typo], [3, 3]).verdict == "content"


def test_attributes_white_space_and_scripts_are_markup(tmp_path: Path) -> None:
    old = boxes("Same", "Same", *LONG, "Same")
    for n, new in enumerate(
        (
            old.replace(b"<div><p>Same", b"<div id=x><p>Same", 1),
            old.replace(b" ", b"\n  "),
            old.replace(b"<body>", b"<body><script nonce=x>1</script>"),
        )
    ):
        found = compared(tmp_path / str(n), [old, new], [3, 3])
        assert found.verdict == "markup", n
        assert set(found.summary()) <= {"changed", "kept"}
        assert found.layout_changed or found.count("changed")  # nothing is missed


def test_links_and_pictures_alone_are_told_as_such(tmp_path: Path) -> None:
    old = boxes(*LONG, "<a href='/a'>Read on</a><img src='/a.png'>")
    for n, new in enumerate(
        (
            old.replace(b"href='/a'", b"href='/b'"),
            old.replace(b"/a.png", b"/b.png"),
            old.replace(b"</body>", b"<div><p><img src='/c.png'></p></div></body>"),
        )
    ):
        assert compared(tmp_path / str(n), [old, new], [3, 3]).verdict == "links", n
    more = old.replace(b"/a.png", b"/b.png").replace(b"Read on", b"Read more")
    assert compared(tmp_path / "more", [old, more], [3, 3]).verdict == "content"


def front(headlines: list[str]) -> bytes:
    menu = "".join(f"<li><a href='/{n}'>A part of the site {n}</a></li>" for n in range(9))
    teasers = "".join(
        f"<div><h2><a href='/{n}'>{text}</a></h2><p>{text} is what this teaser is about.</p></div>"
        for n, text in enumerate(headlines)
    )
    return (
        f"<html><body><nav><ul>{menu}</ul></nav><main>{teasers}</main>"
        "<p><a href='/imprint'>Imprint</a></p></body></html>"
    ).encode()


def test_headlines_of_a_front_page_are_gone_new_or_moved(tmp_path):
    texts = [f"Headline of the day, number {n}" for n in range(12)]
    later = ["What came this morning", *texts[2:], texts[1]]
    headlines = compared(tmp_path, [front(texts), front(later)], [3, 3]).headlines
    assert headlines.gone == (texts[0],)
    assert headlines.new == ("What came this morning",)
    assert headlines.moved == (texts[1],)


def test_rows_that_share_a_word_are_compared_in_linear_time(tmp_path: Path) -> None:
    old = boxes(" ".join(f"book{n} €" for n in range(1_300)))
    new = boxes(" ".join(f"book{n} € sold{n}" for n in range(1_300)))
    began = process_time()
    found = compared(tmp_path, [old, new], [3, 3])
    assert process_time() - began < 15  # cubic time took a minute
    changed = [word for block in found.blocks for word in block.words if word.change != "same"]
    assert {word.change for word in changed} == {"added"}
    assert len(changed) == 1_300


def test_the_words_of_a_page_that_changed_everywhere_are_compared_as_far_as_there_is_time(
    tmp_path, monkeypatch
):
    compared_words = 0

    class Words(Counter[str]):
        def __and__(self, other):
            nonlocal compared_words
            compared_words += len(self)
            return super().__and__(other)

    monkeypatch.setattr(comparison, "Counter", Words)
    monkeypatch.setattr(comparison, "_MOST_WORDS", 1_500, raising=False)
    old, new = (
        boxes(
            *(
                text
                for name in NEWS
                for text in (f"{name} stays", *(f"{name} of {side} {n}" for n in range(10)))
            )
        )
        for side in ("yesterday", "today")
    )
    found = compared(tmp_path, [old, new], [3, 3])
    assert [block.change for block in found.blocks][::11] == ["kept"] * len(NEWS)
    assert 0 < compared_words <= 1_500
