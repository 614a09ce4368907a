import json
import os
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.errors import WebError
from mmcrawl.replay import FolderWeb, StoredResponse
from tests.replay.fetching import fetch
from tests.tables import each

SECRET = b"not for the public"


def write(root: Path, files: dict[str, bytes]) -> Path:
    for name, body in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
    return root


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> FolderWeb:
    outer = tmp_path_factory.mktemp("outer")
    write(outer, {"secret.txt": SECRET})
    root = write(
        outer / "web",
        {
            "a.test/index.html": b"<html>front</html>",
            "a.test/robots.txt": b"User-agent: *",
            "a.test/dir/index.htm": b"<html>dir</html>",
            "a.test/dir/Big.HTML": b"<html>big</html>",
            "a.test/empty/leaf.mov": b"",
            "a.test/page.html": b"<html>page</html>",
            "a.test/plain": b"<!DOCTYPE html><title>x</title>",
            "a.test/blob": b"\x00\x01",
            "a.test/show.asp": b"any",
            "a.test/show.asp?id=3": b"three",
            "a.test/show.asp@id=4": b"four",
            "a.test/show.asp?id=5.html": b"five",
            "a.test/dir/index.htm?page=2": b"dir, page 2",
            "a.test/物理/课件.htm": "课件".encode(),
            "a.test/s/Case.htm": b"upper",
            "a.test/s/case.htm": b"lower",
            "b.test/default.htm": b"b",
        },
    )
    (root / "a.test/out").symlink_to(outer)
    (root / "a.test/secret.htm").symlink_to(outer / "secret.txt")
    (root / "a.test/in.htm").symlink_to(root / "b.test/default.htm")
    return FolderWeb(root)


def body(web: FolderWeb, url: str) -> bytes:
    response = fetch(web, url)
    assert response.status == 200, url
    assert response.header("content-length") == str(len(response.body))
    return response.body


@each(
    "path, expected",
    [
        ("", b"<html>front</html>"),
        ("/?utm=1", b"<html>front</html>"),
        ("/dir/", b"<html>dir</html>"),
        ("/DIR/BIG.html", b"<html>big</html>"),
        ("//dir//./Big.HTML", b"<html>big</html>"),
        ("/page", b"<html>page</html>"),
        ("/show.asp?id=9", b"any"),
        ("/show.asp?id=3", b"three"),
        ("/show.asp%3Fid=3", b"three"),
        ("/show.asp?id=4", b"four"),
        ("/show.asp?id=5", b"five"),
        ("/dir/?page=2", b"dir, page 2"),
        ("/物理/课件.htm", "课件".encode()),
        (quote("/物理/课件.htm"), "课件".encode()),
        (quote("/物理/课件.htm", encoding="gbk"), "课件".encode()),
        ("/s/case.htm", b"lower"),
        ("/in.htm", b"b"),
    ],
)
def test_a_path_answers_with_the_file_a_server_would_send(web, path, expected):
    assert body(web, f"http://a.test{path}") == expected


def test_hosts_match_without_case_scheme_and_default_port(web: FolderWeb) -> None:
    for url in ("http://A.Test/", "https://a.test:443/", "http://user:pw@a.test:80/"):
        assert body(web, url) == b"<html>front</html>"


def test_a_directory_without_its_slash_redirects_to_the_one_with_it(web: FolderWeb) -> None:
    response = fetch(web, "https://a.test/dir?x=1")
    assert (response.status, response.header("Location")) == (301, "https://a.test/dir/?x=1")


@each("path", ["/none", "/empty/", "/page.html/"])
def test_what_is_not_there_is_a_404(web: FolderWeb, path: str) -> None:
    assert fetch(web, f"http://a.test{path}").status == 404


@each("url", ["http://c.test/", "http://a.test:8080/", "ftp://a.test/", "", "http://["])
def test_another_host_is_no_answer_at_all(web: FolderWeb, url: str) -> None:
    assert web.get(url) is None


@each(
    "path",
    [
        "/dir/../../../secret.txt",
        "/..%2f..%2fsecret.txt",
        "/%2e%2e%5c%2e%2e%5csecret.txt",
        "/../../../../../../../../etc/passwd",
        "/..%00/secret.txt",
        "/out/secret.txt",
        "/secret.htm",
        "/%E3%80%82%E3%80%82/secret.txt",
        "/show.asp?/../../../secret.txt",
    ],
)
def test_no_path_leaves_the_root(web: FolderWeb, path: str) -> None:
    response = fetch(web, f"http://a.test{path}")
    assert SECRET not in response.body
    assert b"root:" not in response.body
    assert response.status == 404 or response.body == b"any"


def test_a_host_folder_that_is_a_link_to_elsewhere_is_no_host(tmp_path: Path) -> None:
    write(tmp_path, {"else/secret.txt": SECRET, "web/a.test/index.htm": b"a"})
    (tmp_path / "web/evil.test").symlink_to(tmp_path / "else")
    assert FolderWeb(tmp_path / "web").get("http://evil.test/secret.txt") is None


@each(
    "path, expected",
    [
        ("/show.asp?id=3", "text/html"),
        ("/plain", "text/html"),
        ("/blob", "application/octet-stream"),
        ("/robots.txt", "text/plain"),
        ("/empty/leaf.mov", "video/quicktime"),
    ],
)
def test_the_content_type_follows_the_name_and_has_no_charset(web, path, expected):
    assert fetch(web, f"http://a.test{path}").header("Content-Type") == expected


def test_head_answers_with_the_headers_alone(web: FolderWeb) -> None:
    get, head = (web.get("http://a.test/page", method) for method in ("GET", "head"))
    assert head == StoredResponse(200, get.headers, b"")
    assert fetch(web, "http://a.test/page", "POST").status == 405
    assert web.size_hint("http://a.test/page") == len(b"<html>page</html>")
    assert web.size_hint("http://a.test/dir") == web.size_hint("http://c.test/") == 0


def test_only_the_directories_on_the_way_are_listed(tmp_path, monkeypatch):
    write(tmp_path, {f"a.test/d{n}/index.htm": b"x" for n in range(20)})
    listed = []
    real = os.scandir

    def spy(path: str) -> object:
        listed.append(Path(path).name)
        return real(path)

    monkeypatch.setattr("mmcrawl.replay.folder.os.scandir", spy)
    web = FolderWeb(tmp_path)
    for _ in range(3):
        body(web, "http://a.test/d7/")
    assert listed == [tmp_path.name, "a.test", "d7"]


def test_a_manifest_names_hosts_start_pages_and_aliases(tmp_path: Path) -> None:
    write(tmp_path, {"a.test/home.htm": b"a", "b.test/index.htm": b"b", "notes/x.jsonl": b""})
    manifest = {
        "b.test": {},
        "a.test": {"start": "http://a.test/home.htm", "aliases": ["A.example", "localhost:1313"]},
        "gone.test": {},
    }
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    web = FolderWeb(tmp_path)
    assert web.start_urls() == ("http://b.test/", "http://a.test/home.htm")
    assert dict(web.aliases()) == {"a.example": "a.test", "localhost:1313": "a.test"}
    for alias in ("a.example", "LOCALHOST:1313"):
        moved = fetch(web, f"http://{alias}/home.htm?x=1#y")
        assert (moved.status, moved.header("location")) == (301, "http://a.test/home.htm?x=1")
    assert web.get("http://notes/x.jsonl") is None
    assert web.get("http://gone.test/") is None


@given(
    st.one_of(
        st.text(),
        st.text().map("http://a.test/".__add__),
        st.lists(
            st.sampled_from(["..", "%2e%2e", "%2f", "/", "\\", "dir", "out", "?", "@", "%00", "."])
        ).map(lambda parts: "http://a.test/" + "".join(parts)),
        st.binary().map(lambda raw: "http://a.test/" + quote(raw)),
    )
)
def test_any_url_is_answered_and_none_with_a_file_from_outside(web: FolderWeb, url: str) -> None:
    response = web.get(url)
    web.size_hint(url)
    assert response is None or SECRET not in response.body


def test_a_folder_of_one_site_is_not_taken_for_one_of_hosts(tmp_path: Path) -> None:
    with pytest.raises(WebError, match="no host"):
        FolderWeb(write(tmp_path / "none", {"readme.txt": b""}))
    mirror = write(tmp_path / "mirror", {"index.html": b"", "a.test/x": b"", "b.test/x": b""})
    assert FolderWeb(mirror).start_urls() == ("http://a.test/", "http://b.test/")
    write(tmp_path, {"index.html": b"front", "physics/index.htm": b"in"})
    with pytest.raises(WebError, match="looks like one site: give the folder that holds it"):
        FolderWeb(tmp_path)
    write(tmp_path, {"manifest.json": 100_000 * b"["})
    with pytest.raises(WebError, match=r"The manifest .* cannot be read"):
        FolderWeb(tmp_path)
    write(tmp_path, {"manifest.json": b'{"physics": {}}'})
    assert body(FolderWeb(tmp_path), "http://physics/") == b"in"
