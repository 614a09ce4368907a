"""The content of a page with its structure, in each format."""

import json

import pytest

from mmcrawl.blocks import page_content, read_tree
from mmcrawl.blocks.content import mathml_to_tex
from mmcrawl.errors import BlockError
from tests.tables import each

TEXT = "<p>A lever is a rigid bar on a pivot, and it makes a small force lift a great load.</p>"


def page(body: str) -> str:
    return (
        f"<title>Levers</title><body><h1>Levers</h1>{TEXT}{body}{TEXT.replace('A', 'Any')}</body>"
    )


def md(body: str, url: str | None = "http://h.test/a/") -> str:
    """Return a part of a page between two paragraphs as Markdown."""
    written = page_content(page(body), url).write("md")
    first, last = TEXT[3:-4], TEXT[3:-4].replace("A", "Any")
    assert written.startswith(f"# Levers\n\n{first}")
    return written.partition(first)[2].rpartition(last)[0].strip()


@each(
    "body, written",
    [
        ("<h2>The law</h2><p>It was found by <b>Archimedes</b> in <i>Syracuse</i> long ago.</p>",
         "## The law\n\nIt was found by **Archimedes** in *Syracuse* long ago."),
        ("<p>See the <a href='bar.html'>rigid bar</a> and <a href='#top'>above</a> for more.</p>",
         "See the [rigid bar](http://h.test/a/bar.html) and above for more."),
        ("<p>The area is x<sup>2</sup>, that of H<sub>2</sub>O is not.<br>A new line is begun.</p>",
         "The area is x<sup>2</sup>, that of H<sub>2</sub>O is not.\\\nA new line is begun."),
        ("<pre><code class='language-python'>def f(x):\n    return `x`</code></pre>",
         "```python\ndef f(x):\n    return `x`\n```"),
        ("<p>The function <code>f(*args)</code> does all the work of a long lever.</p>",
         "The function `f(*args)` does all the work of a long lever."),
        ("<table><tr><th>Name<th>Mass<tr><td>a|b<td>2 kg</table>",
         "| Name | Mass |\n| --- | --- |\n| a\\|b | 2 kg |"),
        ("<table><tr><th>Kind<th>Load<th>Use<tr><td rowspan=3>First<td>1 kg<td>scale"
         "<tr><tr><td colspan=2>none<tr><td>Second<td>2 kg<td>cart</table>",
         "| Kind | Load | Use |\n| --- | --- | --- |\n| First | 1 kg | scale |\n|  | none |  |\n"
         "| Second | 2 kg | cart |"),
        ("<table><tr><td rowspan=2 colspan=2>First<td>1 kg<tr><td>2 kg<tr><td>a<td>b<td>c</table>",
         "|  |  |  |\n| --- | --- | --- |\n| First |  | 1 kg |\n|  |  | 2 kg |\n| a | b | c |"),
        ("<blockquote><p>Give me a place to stand and I shall move the earth.</p></blockquote>",
         "> Give me a place to stand and I shall move the earth."),
        ("<ul><li>The first kind of lever<ul><li>a pair of scissors</ul><li>The second kind</ul>",
         "- The first kind of lever\n  - a pair of scissors\n- The second kind"),
        ("<ol start=3><li>The third kind of lever<li>The fourth kind of lever</ol>",
         "3. The third kind of lever\n4. The fourth kind of lever"),
        ("<p>1. is no list, *this* is not bold, and [that] leads to no_where at all.</p>",
         "\\1. is no list, \\*this\\* is not bold, and \\[that\\] leads to no_where at all."),
        ("<figure><img src='/lever.png' alt='A lever'><figcaption>A lever on its pivot, drawn by "
         "hand.</figcaption></figure>",
         "![A lever](http://h.test/lever.png)\n\nA lever on its pivot, drawn by hand."),
    ],
)  # fmt: skip
def test_markup_that_says_what_a_text_is_becomes_markdown(body: str, written: str) -> None:
    assert md(body) == written


KATEX = (
    '<span class="katex"><span class="katex-mathml"><math><semantics><mrow><mi>E</mi></mrow>'
    '<annotation encoding="application/x-tex">E=mc^2</annotation></semantics></math></span>'
    '<span class="katex-html" aria-hidden="true">E=mc2</span></span>'
)
WIKIPEDIA = (
    '<span class="mwe-math-element"><span style="display: none;"><math alttext="{\\displaystyle '
    'E=mc^2}"><semantics><mi>E</mi><annotation encoding="application/x-tex">{\\displaystyle E=mc^2}'
    '</annotation></semantics></math></span><img src="https://w.test/media/math/render/svg/1" '
    'class="mwe-math-fallback-image-inline" alt="{\\displaystyle E=mc^2}"></span>'
)
MATHJAX = (
    '<span class="MathJax_Preview">E=mc2</span><span class="MathJax" id="M1"><span>E=mc2</span>'
    '</span><script type="math/tex" id="M-1">E=mc^2</script>'
)
ZHIHU = '<img src="https://www.zhihu.com/equation?tex=E%3Dmc%5E2" alt="E=mc^2" eeimg="1">'
MATHML = "<math><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></math>"


ZTEXT = '<span class="ztext-math" data-tex="E=mc^2">E=mc2</span>'


@each("formula", [KATEX, WIKIPEDIA, MATHJAX, ZHIHU, ZTEXT, "\\(E=mc^2\\)"])
def test_a_formula_is_kept_once_as_tex(formula: str) -> None:
    written = md(f"<p>The energy at rest is {formula} for any body at all.</p>")
    assert written == "The energy at rest is $E=mc^2$ for any body at all."


@each(
    "markup, tex",
    [
        ("<mfrac><mn>1</mn><msqrt><mi>x</mi></msqrt></mfrac>", r"\frac{1}{\sqrt{x}}"),
        ("<mmultiscripts><mi>C</mi><mn>2</mn><none/><mprescripts/><mn>6</mn><mn>14</mn>",
         "{}_{6}^{14}C_{2}"),
        ("<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>"
         "<msub><mi>a</mi><mi>i</mi></msub>", r"\sum_{i=1}^{n}a_{i}"),
        ("<mi>α</mi><mo>&#x2062;</mo><mi>x</mi>", r"\alpha x"),
        ("<mover><mi>v</mi><mo>→</mo></mover>", r"\vec{v}"),
        ("<mi>sin</mi><mo>&#x2061;</mo><mi>x</mi>", r"\sin x"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", r"\sqrt[3]{x}"),
        ("<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd>"
         "<mtd><mn>4</mn></mtd></mtr></mtable>", r"\begin{matrix} 1 & 2 \\ 3 & 4 \end{matrix}"),
        ("<mfenced><mi>a</mi><mi>b</mi></mfenced>", r"\left( a, b \right)"),
        ("<mrow>" * 500 + "<mi>x</mi>", ""),  # too deep
    ],
)  # fmt: skip
def test_mathml_is_written_as_tex(markup: str, tex: str) -> None:
    assert mathml_to_tex(read_tree(f"<math>{markup}</math>".encode()), 1) == tex


def test_a_formula_of_its_own_line_is_displayed() -> None:
    block = f'<div><span class="katex-display">{KATEX}</span></div>'
    assert md(block) == "$$\nE=mc^2\n$$"


def test_dollar_signs_are_formulas_only_where_the_page_says_so() -> None:
    text = "<p>It costs $5 or more, and $x$ is unknown to all who are asked for it.</p>"
    assert "$5 or more, and $x$ is" in md(text)
    assert "formula" not in page_content(page(text)).write("json")
    configured = "<script>MathJax = {tex: {inlineMath: [['$', '$']]}}</script>"
    command = text.replace("$x$", "$\\alpha$")
    assert '"formula": "\\\\alpha"' in page_content(page(command)).write("json")
    assert '"formula": "x"' in page_content(page(configured + text)).write("json")


def test_dollar_signs_beside_formulas_and_of_prices_begin_none() -> None:
    written = md(f"<p>It costs $5, not $6, and the energy at rest is {MATHML} for all.</p>")
    assert written == r"It costs \$5, not \$6, and the energy at rest is $E=mc^{2}$ for all."
    text = "<p class=mathjax>The range of prices is $$–$$$ for bars, and $$ for pivots of wood.</p>"
    assert md(text) == "The range of prices is $$–$$$ for bars, and $$ for pivots of wood."
    assert "formula" not in page_content(page(text)).write("json")


def test_code_and_short_cells_of_a_small_page_are_kept() -> None:
    small = (
        "<h1>Listing files</h1><p>The command shows the files of a folder, one a line.</p>"
        "<pre>ls -l</pre><ul><li>one<li>two</ul>"
        "<table><tr><th>Name<th>Size<tr><td>a<td>2 kB</table>"
    )
    content = page_content(small)
    assert content.paragraphs[1:] == ("ls -l", "one", "two", "Name", "Size", "a", "2 kB")


HIGHLIGHTED = """<h1>Sums<a class=headerlink href="#sums">¶</a></h1><p>A program adds two numbers up
and returns what they are together, as an exam\xadple shows that is easy to read.</p>
<pre><span>def</span> <span>add</span><i>(</i>a,<!-- and --> b<i>)</i>:
    <b>return</b> <span>a</span> <span>+</span>\t<span>b</span><br>

<span>add</span>(1, 2)
</pre>"""


@each("encoding", ["utf-8", "utf-16-le", "gb18030"])
def test_white_space_between_the_words_of_code_is_kept(encoding: str) -> None:
    code = "def add(a, b):\n    return a +\tb\n\n\nadd(1, 2)"
    page = page_content(HIGHLIGHTED.encode(encoding, "ignore"), encoding=encoding)
    assert page.write("md").endswith(f"```\n{code}\n```\n")
    assert page.paragraphs[-1].split("\n") == [line for line in code.split("\n") if line]


def test_marks_of_links_to_headings_and_soft_hyphens_are_left_out() -> None:
    more = "<h2><a href='#more'>#</a>More</h2><p>And so on."
    page = page_content(HIGHLIGHTED + more, favor="recall")
    assert page.title == "Sums"
    assert "an example shows" in page.text
    for form in ("md", "txt"):
        written = page.write(form)  # type: ignore[arg-type]
        assert not {"¶", "\xad"}.intersection(written)
    assert "## More\n" in page.write("md")


def test_json_has_the_facts_the_text_and_the_blocks() -> None:
    record = json.loads(page_content(page("<pre>x = 1</pre>"), "http://h.test/").write("json"))
    assert record["title"] == "Levers"
    assert record["published"] is None
    assert {"kind": "code", "language": "", "text": "x = 1"} in record["blocks"]
    assert "A lever is a rigid bar" in record["text"]


def test_an_empty_page_is_an_empty_document_and_another_format_is_refused() -> None:
    content = page_content(b"")
    assert content.write("md") == content.write("txt") == ""
    with pytest.raises(BlockError, match="no format 'pdf': give one of md, txt, json"):
        content.write("pdf")  # type: ignore[arg-type]


def test_deep_nesting_is_written_all_the_same() -> None:
    deep = "<blockquote><ul><li><b>" * 1500 + TEXT
    for form in ("md", "txt", "json"):
        assert "rigid bar" in page_content(deep).write(form)  # type: ignore[arg-type]
