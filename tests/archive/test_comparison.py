"""What became of the blocks of a page that grew a new entry, or was cut otherwise."""

from __future__ import annotations

from pathlib import Path

from mmcrawl.archive import Capture, Difference, open_archive

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
    with open_archive(f"sqlite:///{tmp_path}/a.sqlite") as archive:
        captures = [
            Capture(URL, body, float(n), content_type="text/html") for n, body in enumerate(bodies)
        ]
        old, new = (s.version for s in archive.store_many(captures, method="bwap", levels=levels))
        assert old is not None
        assert new is not None
        return archive.diff(old, new)


def test_an_entry_at_the_head_of_a_list_leaves_the_words_of_the_others_as_they_were(
    tmp_path: Path,
) -> None:
    old, new = page(NEWS, mark=1), page(["Magnets attract iron", *NEWS], mark=2)
    blocks = compared(tmp_path, [old, new], [3, 3]).blocks
    texts = ["".join(word.text for word in block.words) for block in blocks]
    assert not any(texts)  # nothing but markup changed in what was there before
    added = [block.new.topic for block in blocks if block.change == "added" and block.new]
    assert "magnets attract iron" in " ".join(added).lower()
    assert not any(block.change == "removed" for block in blocks)


def test_what_is_whole_in_one_version_and_cut_in_the_other_is_kept(tmp_path: Path) -> None:
    old = page(NEWS, mark=1)
    new = old.replace(b"Imprint", b"Imprint and terms")
    changes = compared(tmp_path, [old, new], [1, 3])
    told = [b.new for b in changes.blocks if b.change != "kept" and b.new is not None]
    assert changes.count("kept") > 0
    assert told
    assert not any(b"Levers" in new[block.start : block.end] for block in told)
