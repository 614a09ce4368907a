"""The copy of a page that shows what it looks like and does nothing else."""

import re

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.blocks import read_tree, safe_copy
from tests.tables import each


@each(
    "body, parts",
    [
        (b"<style media=screen>p > b{color:red}</style><body bgcolor=#eee class=home>",
         ['<style media="screen">p > b{color:red}</style>', '<body bgcolor="#eee" class="home">']),
        (b"<td align=center style='color: blue'>5 &lt; 6 <b>a</b> <b>b</b>",
         ['<td align="center" style="color: blue">5 &lt; 6 <b>a</b><b> b</b></td>']),
        (b"<p onclick=f() style=color:red formaction=x background=x class='a\"b'><a href=x ping=y>",
         ['<p style="color:red" class="a&quot;b"><a href="#" inert></a></p>']),
        # a style sheet cannot end its element
        (b"<style>p{}</style", ["<style>p{}<\\/style</style>"]),
        (b"<div>" * 5_000 + b"x", ["x" + "</div>" * 5_000]),
    ],
)  # fmt: skip
def test_the_layout_stays_recognisable_and_what_acts_or_points_elsewhere_goes(body, parts):
    copy = safe_copy(read_tree(body))
    assert [part for part in parts if part not in copy] == []


PIECES = [
    "<script>own()</script>", "<script ", "<p onclick=own()", "onload='own()'", ' src="http://x/"',
    "<svg><style>", "<math><mtext>", "<style><!--", "</style>", "-->", "<!--", "<plaintext>",
    "<xmp>", "</xmp>", "<textarea>", "</textarea>", "<title>", "<iframe srcdoc='", "'>", '">',
    "</iframe>", "<a href=javascript:own()>", "<base href=//x>",
    "<meta http-equiv=refresh content=0>", "<noscript>", "<select><option>", "<table>",
    "<form action=//x>", "<my-card onx=1>", "<img src=//x>", "&lt;script>", "<body onload=own()>",
    "<template>", "&#0;", "\x00", '<p style="a:url(\'//x\')">', "text", ">", "<",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_whatever_a_page_holds_its_copy_has_no_way_to_act(text: str) -> None:
    copy = safe_copy(read_tree(text.encode()))
    outside_of_styles = re.sub(r"<style[^>]*>.*?</style>", "", copy, flags=re.DOTALL)
    tags = re.findall(r"<[^>]*>", outside_of_styles)
    assert re.sub(r"<[^>]*>", "", outside_of_styles).count("<") == 0
    for tag in tags:
        assert re.match(r"</?[a-z][a-z0-9-]*[ >]", tag)
        assert not re.match(
            r"<(script|iframe|svg|math|base|meta|link|object|plaintext|xmp|title)\b", tag
        )
        names = re.findall(r' ([^\s="]+)(?:="[^"]*")?', tag)
        assert not [name for name in names if name.startswith(("on", "form", "action", "ping"))]
        assert re.findall(r' (?:href|src)="(?!#"|data:image/gif;)', tag) == []


def test_no_style_sheet_is_copied_into_a_list_of_choices() -> None:
    body = b"<select><style><input><img src=x onerror=alert(1)></style></select>"
    assert "onerror" not in safe_copy(read_tree(body))
