"""Converts MathML to TeX, for pages that give formulas in no other way.

It converts presentation markup as Word, MathType and most editors write it. Unknown elements become
the text they hold.
"""

from __future__ import annotations

from collections.abc import Callable

from mmcrawl.page.html.building import TEXT
from mmcrawl.page.html.tree import PageTree

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
