"""Formulas of a page, each once, as TeX.

A formula is on a page up to three times: as TeX (for the script that draws it), as MathML (for
screen readers) and as visible glyphs. Each such group of elements is one formula here. Its TeX
comes from an ``annotation``, a ``script`` of type ``math/tex``, an attribute or the text of a
picture, whichever is there; otherwise its MathML is converted: presentation markup as Word,
MathType and most editors write it. Unknown elements become the text they hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import parse_qs, unquote, urlsplit

from mmcrawl.blocks.content.parts import Formula
from mmcrawl.page.html.building import TEXT
from mmcrawl.page.html.tree import PageTree, read_tree

_MENTIONED = (
    b"<math", b"math/", b"katex", b"mathjax", b"mjx-", b"latex", b"equation", b"data-tex",
    b"ql-formula", b"eeimg", b"codecogs", b"mathtex", b"mimetex", b"=tex", b'"tex', b"'tex",
    b":math", b"tex?",
)  # fmt: skip
# By their own spelling: "mathjax" in small letters marks text in which MathJax is to look.
_GLYPHS = frozenset(
    """
    MathJax MathJax_Display MathJax_SVG MathJax_SVG_Display MathJax_CHTML MathJax_Preview mjx-chtml
    MJXc-display
    """.split()
)
_CLASSES = _GLYPHS | {"katex", "katex-display", "mwe-math-element", "ztext-math", "ql-formula"}
_ALWAYS = frozenset({"math", "mjx-container", "m:math", "mml:math"})
_NO_GROUPS = frozenset("html body link meta style a p img".split())
_DISPLAYED = re.compile(
    r"display\s*=\s*[\"']?block|mode=display|katex-display|displaystyle\b.*-display|mjxc?-?_?display|image-display",
    re.I,
)
_PICTURED = re.compile(
    r"latex\.php|/math/render/|zhihu\.com/equation|codecogs\.com|[?&](?:tex|latex)=|mathtex|mimetex|/latexrender/",
    re.I,
)
_WRAPPED = re.compile(r"^\{\\(?:display|text)style\s*+(.*)\}$", re.DOTALL)
_STYLE = re.compile(r"^\\(?:display|text)style\b\s*")
_DELIMITED = re.compile(r"^(?:\\\((.*)\\\)|\\\[(.*)\\\]|\$\$(.*)\$\$|\$(.*)\$)$", re.DOTALL)
_SHOWN_TEX = re.compile(
    r"\\\(((?:[^\\]|\\(?!\())+?)\\\)|\\\[((?:[^\\]|\\(?!\[))+?)\\\]|(?<!\$)\$\$([^$]+)\$\$(?!\$)|"
    r"(?<![\\$\w])\$(?=[^\s$])([^$]{1,300}?)(?<=[^\s\\])\$(?![\d$])",
    re.DOTALL,
)
_COMMAND = re.compile(r"\\[a-zA-Z]|[\^_]\{")
_INLINE_DOLLARS = re.compile(
    rb"inlineMath\s{0,20}[\"']?\s{0,20}:[^;]{0,80}?[\"']\$[\"']|delimiters[^;]{0,300}[\"']\$[\"']"
)
_LONGEST = 5_000

_DEEPEST = 60
_FUNCTIONS = frozenset(
    """
    sin cos tan cot sec csc sinh cosh tanh arcsin arccos arctan log ln lg exp lim max min sup inf
    det dim ker gcd deg arg sgn
    """.split()
)
_CHARACTERS = {
    "−": "-", "×": r"\times", "·": r"\cdot", "⋅": r"\cdot", "÷": r"\div", "±": r"\pm", "∓": r"\mp",
    "≤": r"\leq", "≥": r"\geq", "≠": r"\neq", "≈": r"\approx", "≡": r"\equiv", "∼": r"\sim",
    "∝": r"\propto", "∞": r"\infty", "∂": r"\partial", "∇": r"\nabla", "∑": r"\sum", "∏": r"\prod",
    "∫": r"\int", "∬": r"\iint", "∮": r"\oint", "√": r"\surd", "→": r"\to", "←": r"\leftarrow",
    "⇒": r"\Rightarrow", "⇔": r"\Leftrightarrow", "↔": r"\leftrightarrow", "↦": r"\mapsto",
    "∈": r"\in", "∉": r"\notin", "⊂": r"\subset", "⊆": r"\subseteq", "∪": r"\cup", "∩": r"\cap",
    "∅": r"\emptyset", "∀": r"\forall", "∃": r"\exists", "¬": r"\neg", "∧": r"\wedge",
    "∨": r"\vee", "⟨": r"\langle", "⟩": r"\rangle", "′": "'", "″": "''", "…": r"\ldots",
    "⋯": r"\cdots", "°": r"^\circ", "ℏ": r"\hbar", "ℓ": r"\ell", "ℝ": r"\mathbb{R}",
    "ℕ": r"\mathbb{N}", "ℤ": r"\mathbb{Z}", "ℚ": r"\mathbb{Q}", "ℂ": r"\mathbb{C}", "†": r"\dagger",
    "‖": r"\|", "∘": r"\circ", "⊗": r"\otimes", "⊕": r"\oplus", "⊥": r"\perp", "∥": r"\parallel",
    "∠": r"\angle", "△": r"\triangle", "α": r"\alpha", "β": r"\beta", "γ": r"\gamma",
    "δ": r"\delta", "ε": r"\varepsilon", "ϵ": r"\epsilon", "ζ": r"\zeta", "η": r"\eta",
    "θ": r"\theta", "ϑ": r"\vartheta", "ι": r"\iota", "κ": r"\kappa", "λ": r"\lambda", "μ": r"\mu",
    "µ": r"\mu", "ν": r"\nu", "ξ": r"\xi", "π": r"\pi", "ρ": r"\rho", "σ": r"\sigma", "τ": r"\tau",
    "υ": r"\upsilon", "φ": r"\varphi", "ϕ": r"\phi", "χ": r"\chi", "ψ": r"\psi", "ω": r"\omega",
    "Γ": r"\Gamma", "Δ": r"\Delta", "Θ": r"\Theta", "Λ": r"\Lambda", "Ξ": r"\Xi", "Π": r"\Pi",
    "Σ": r"\Sigma", "Φ": r"\Phi", "Ψ": r"\Psi", "Ω": r"\Omega", "{": r"\{", "}": r"\}",
    "%": r"\%", "&": r"\&", "#": r"\#", "$": r"\$", "\u2061": "", "\u2062": "", "\u2063": "",
    "\u2064": "", "\xa0": " ",
}  # fmt: skip
_ACCENTS = {
    "¯": "overline", "‾": "overline", "―": "overline", "_": "underline", "^": "hat", "ˆ": "hat",
    "~": "tilde", "˜": "tilde", "→": "vec", "⃗": "vec", "˙": "dot", "¨": "ddot", "⏞": "overbrace",
    "⏟": "underbrace", "↔": "overleftrightarrow",
}  # fmt: skip
_LARGE = frozenset({r"\sum", r"\prod", r"\int", r"\lim", r"\max", r"\min", r"\iint", r"\oint"})
_SILENT = frozenset({"annotation", "annotation-xml", "mphantom", "none", "mprescripts"})


class Formulas:
    """The formulas of a page.

    Attributes:
        of: Formula by the node where its group begins.
        after: Of these nodes, the node behind the group.
    """

    def __init__(self, tree: PageTree) -> None:
        self._tree = tree
        self.of: dict[int, Formula | None] = {}
        self.after: dict[int, int] = {}
        self._dollars = self._drawn = False
        lowered = tree.body.lower()
        # In UTF-16 there is a zero between any two letters.
        if tree.encoding.startswith("utf-16") or any(word in lowered for word in _MENTIONED):
            self._find()
        self._drawn = any(word in lowered for word in (b"mathjax", b"katex"))
        if b"inlinemath" in lowered or b"delimiters" in lowered:
            self._dollars = bool(_INLINE_DOLLARS.search(tree.body))

    def _find(self) -> None:
        tree = self._tree
        candidates = set(tree.elements("math", "mjx-container"))
        candidates.update(tree.mentioning(b"katex", b"math", b"tex", b"mjx", b"formula"))
        stop = 0
        for node in sorted(candidates):
            if node < stop or not self._is_formula(node):
                continue
            stop = tree.after[node]
            tex = self._tex_of(node)
            display = self._is_displayed(node)
            self.after[node] = stop
            # The glyphs of MathJax stand beside the script that has their source.
            self.of[node] = Formula(tex, display) if tex else None

    def _is_formula(self, node: int) -> bool:
        tree = self._tree
        tag = tree.tags[node]
        attributes = tree.attributes(node)
        if tag in _NO_GROUPS:
            return tag == "img" and bool(_tex_of_picture(attributes))
        if tag == "script":
            return attributes.get("type", "").lower().startswith("math/")
        classes = set(attributes.get("class", "").split())
        return tag in _ALWAYS or not classes.isdisjoint(_CLASSES) or "data-tex" in attributes

    def _tex_of(self, node: int) -> str:
        tree = self._tree
        attributes = tree.attributes(node)
        if tree.tags[node] == "script":
            return self._tex_of_script(node, attributes)
        if tree.tags[node] == "img":
            return _bare(_tex_of_picture(attributes))
        for name in ("data-tex", "data-latex", "data-value", "data-formula"):
            if attributes.get(name, "").strip():
                return _bare(attributes[name])
        return self._tex_inside(node, set(attributes.get("class", "").split()))

    def _tex_of_script(self, node: int, attributes: Mapping[str, str]) -> str:
        source = self._tree.raw_content(node)
        source = source.replace("% <![CDATA[", "").replace("%]]>", "").strip()
        if "mml" in attributes.get("type", ""):
            inner = read_tree(source.encode("utf-8", "replace"), encoding="utf-8")
            return mathml_to_tex(inner, 0)
        return _bare(source)

    def _tex_inside(self, node: int, classes: set[str]) -> str:
        tree = self._tree
        inside = range(node, tree.after[node])
        if tex := next(filter(None, map(self._source_in, inside)), ""):
            return tex
        for inner in inside:
            if tree.tags[inner].rpartition(":")[2] == "math":
                return mathml_to_tex(tree, inner)
        return self._tex_of_glyphs(node) if classes & _GLYPHS else self._text(node)

    def _source_in(self, node: int) -> str:
        """Return the TeX that an element of a group gives, "" for none."""
        tree, tag = self._tree, self._tree.tags[node]
        if tag == TEXT:
            return ""
        attributes = tree.attributes(node)
        if tag == "annotation" and "tex" in attributes.get("encoding", "").lower():
            return _bare(self._text(node))
        if tag == "script" and attributes.get("type", "").lower().startswith("math/"):
            return self._tex_of_script(node, attributes)
        if tag == "img":
            return _bare(_tex_of_picture(attributes))
        return _bare(attributes.get("alttext", ""))

    def _tex_of_glyphs(self, node: int) -> str:
        """Return what MathJax keeps beside the glyphs; "" where a script behind them has it."""
        tree = self._tree
        sibling = tree.after[node]
        for _ in range(2):
            if sibling >= len(tree):
                break
            if tree.tags[sibling] == "script" and tree.parents[sibling] == tree.parents[node]:
                return ""
            sibling = tree.after[sibling]
        for inner in range(node, tree.after[node]):
            if markup := tree.attributes(inner).get("data-mathml"):
                return mathml_to_tex(read_tree(markup.encode("utf-8", "replace")), 0)
        return self._text(node)

    def _text(self, node: int) -> str:
        tree = self._tree
        runs = range(node + 1, tree.after[node])
        text = " ".join(tree.raw_text(run) for run in runs if tree.tags[run] == TEXT)
        return " ".join(text.split())[:_LONGEST]

    def _is_displayed(self, node: int) -> bool:
        tree = self._tree
        inside = range(node, min(tree.after[node], node + 4))
        return any(
            tree.tags[inner] != TEXT
            and _DISPLAYED.search(tree.start_tag(inner).decode("latin-1"))
            and "display:inline" not in tree.start_tag(inner).decode("latin-1")
            for inner in inside
        )

    def in_text(self, text: str) -> Iterator[str | Formula]:
        r"""Yield a text with its formulas, as pages write them for MathJax.

        ``\(x\)`` and ``\[x\]``; between dollar signs, which also stand for prices, what has a
        command of TeX in it, or what the page says to be formulas.
        """
        if "\\" not in text and "$" not in text:
            yield text
            return
        place = 0
        for found in _SHOWN_TEX.finditer(text):
            tex = next(filter(None, found.groups())).strip()
            if found[3] and not (self._drawn or _COMMAND.search(tex)):
                continue
            if found[4] and not (self._dollars or _COMMAND.search(tex)):
                continue
            if text[place : found.start()]:
                yield text[place : found.start()]
            yield Formula(tex, display=bool(found[2] or found[3]))
            place = found.end()
        if text[place:]:
            yield text[place:]


def _tex_of_picture(attributes: Mapping[str, str]) -> str:
    """Return the TeX that a picture's text or address gives, "" if it shows no formula."""
    source = attributes.get("src") or attributes.get("data-src") or ""
    text = attributes.get("alt", "").strip()
    classes = set(attributes.get("class", "").lower().split())
    pictured = bool(_PICTURED.search(source))
    named = classes & {
        "tex",
        "latex",
        "equation",
        "mwe-math-fallback-image-inline",
        "mwe-math-fallback-image-display",
    }
    if not (pictured or named or "eeimg" in attributes):
        return ""
    if pictured and ("\\" in (address := _tex_of_address(source)) or not text):
        return address
    return text


def _tex_of_address(source: str) -> str:
    try:
        parts = urlsplit(source)
    except ValueError:
        return ""
    asked = parse_qs(parts.query)
    for name in ("tex", "latex", "formula", "chl"):
        if asked.get(name):
            return asked[name][0]
    if "codecogs" in parts.netloc or "mathtex" in parts.path or "mimetex" in parts.path:
        return unquote(parts.query.replace("+", " "))
    return ""


def _bare(tex: str) -> str:
    """Return TeX without delimiters and without what only says how large it is."""
    tex = tex.strip()[:_LONGEST]
    if found := _DELIMITED.match(tex):
        tex = next((part for part in found.groups() if part), "").strip()
    if found := _WRAPPED.match(tex):
        tex = found[1].strip()
    return _STYLE.sub("", tex)


def mathml_to_tex(tree: PageTree, node: int) -> str:
    """Return an element of MathML as TeX.

    >>> from mmcrawl.page.html.tree import read_tree
    >>> page = read_tree(b"<math><mfrac><mi>a</mi><msup><mi>b</mi><mn>2</mn></msup></mfrac></math>")
    >>> mathml_to_tex(page, 1)
    '\\\\frac{a}{b^{2}}'
    """
    return " ".join(_Converter(tree).tex(node, 0).split())


class _Converter:
    def __init__(self, tree: PageTree) -> None:
        self._tree = tree
        self._rules: dict[str, Callable[[list[str], int], str]] = {
            "mfrac": self._fraction,
            "msqrt": lambda parts, _: f"\\sqrt{{{_joined(parts)}}}",
            "mroot": lambda parts, _: f"\\sqrt[{_at(parts, 1)}]{{{_at(parts, 0)}}}",
            "msup": lambda parts, _: _scripts(_at(parts, 0), "", _at(parts, 1)),
            "msub": lambda parts, _: _scripts(_at(parts, 0), _at(parts, 1), ""),
            "msubsup": lambda parts, _: _scripts(_at(parts, 0), _at(parts, 1), _at(parts, 2)),
            "munder": lambda parts, _: _under_over(_at(parts, 0), _at(parts, 1), ""),
            "mover": lambda parts, _: _under_over(_at(parts, 0), "", _at(parts, 1)),
            "munderover": lambda parts, _: _under_over(_at(parts, 0), _at(parts, 1), _at(parts, 2)),
            "mmultiscripts": self._multiscripts,
            "mfenced": self._fenced,
            "mtable": self._table,
            "mtr": lambda parts, _: " & ".join(parts),
            "mlabeledtr": lambda parts, _: " & ".join(parts[1:]),
            "semantics": lambda parts, _: _at(parts, 0),
        }

    def tex(self, node: int, depth: int) -> str:
        tree, tag = self._tree, self._tree.tags[node].rpartition(":")[2]
        if tag == TEXT:
            return _characters(tree.text(node))
        if tag in _SILENT or depth > _DEEPEST:
            return ""
        if tag in ("mi", "mn", "mo", "mtext", "ms"):
            return self._token(tag, node)
        if tag == "mspace":
            return " "
        parts = [self.tex(child, depth + 1) for child in tree.children(node)]
        rule = self._rules.get(tag)
        return rule(parts, node) if rule else _joined(parts)

    def _token(self, tag: str, node: int) -> str:
        tree = self._tree
        runs = range(node + 1, tree.after[node])
        text = "".join(tree.text(run) for run in runs if tree.tags[run] == TEXT)
        if tag in ("mtext", "ms"):
            return f"\\text{{{text}}}" if text.strip() else " "
        if tag == "mi" and text in _FUNCTIONS:
            return f"\\{text}"
        if tag == "mo" and text in _FUNCTIONS:
            return f"\\{text}"
        if tag == "mi" and len(text) > 1 and text.isalpha() and text.isascii():
            return f"\\mathrm{{{text}}}"
        return _characters(text)

    def _fraction(self, parts: list[str], node: int) -> str:
        if self._tree.attributes(node).get("linethickness", "").strip("px") == "0":
            return f"\\binom{{{_at(parts, 0)}}}{{{_at(parts, 1)}}}"
        return f"\\frac{{{_at(parts, 0)}}}{{{_at(parts, 1)}}}"

    def _multiscripts(self, parts: list[str], node: int) -> str:
        """Scripts behind the base and, after `mprescripts`, before it: an isotope, a tensor."""
        tags = [self._tree.tags[child] for child in self._tree.children(node)]
        turn = next((n for n, tag in enumerate(tags) if tag.endswith("mprescripts")), len(tags))
        behind, before = parts[1:turn], parts[turn + 1 :]
        front = [_scripts("{}", *pair) for pair in zip(before[::2], before[1::2], strict=False)]
        text = _at(parts, 0)
        for pair in zip(behind[::2], behind[1::2], strict=False):
            text = _scripts(text, *pair)
        return "".join((*front, text))

    def _fenced(self, parts: list[str], node: int) -> str:
        attributes = self._tree.attributes(node)
        opening, closing = attributes.get("open", "("), attributes.get("close", ")")
        between = (attributes.get("separators", ",").split() or [""])[0]
        ends = [_characters(end) or "." for end in (opening, closing)]
        return f"\\left{ends[0]} {f'{between} '.join(parts)} \\right{ends[1]}"

    def _table(self, parts: list[str], _: int) -> str:
        rows = r" \\ ".join(parts)
        return rf"\begin{{matrix}} {rows} \end{{matrix}}"


def _characters(text: str) -> str:
    """Return characters as TeX; a command ends where a letter follows."""
    pieces = []
    for character in text:
        piece = _CHARACTERS.get(character, character)
        pieces.append(f"{piece} " if piece[:1] == "\\" and piece[-1:].isalpha() else piece)
    return "".join(pieces).rstrip() if len(text) > 1 else "".join(pieces).strip()


def _joined(parts: list[str]) -> str:
    """Join parts with a space where a command would run into a letter."""
    text = ""
    for part in parts:
        last = text.rpartition("\\")
        runs_on = last[1] and last[2].isalpha() and part[:1].isalpha()
        text += f" {part}" if runs_on else part
    return text


def _at(parts: list[str], place: int) -> str:
    return parts[place].strip() if place < len(parts) else ""


def _scripts(base: str, below: str, above: str) -> str:
    """Return a base with what is written below and above behind it."""
    single = len(base) <= 1 or (base[0] == "\\" and base[1:].isalpha()) or base[-1:] in ")]|}"
    text = base if single else f"{{{base}}}"
    if below:
        text += f"_{{{below}}}"
    if above:
        text += above if set(above) == {"'"} else f"^{{{above}}}"
    return text


def _under_over(base: str, below: str, above: str) -> str:
    if base in _LARGE:
        return _scripts(base, below, above)
    for mark in (above, below):
        raw = next((c for c, tex in _CHARACTERS.items() if tex == mark), mark)
        if accent := _ACCENTS.get(raw):
            return f"\\{accent}{{{base}}}"
    text = f"\\underset{{{below}}}{{{base}}}" if below else base
    return f"\\overset{{{above}}}{{{text}}}" if above else text
