"""What a search of the archive found, as a person sees it."""

from rich.console import Group, RenderableType
from rich.text import Text

from mmcrawl.archive import Hit, Results
from mmcrawl.archive.times import as_text
from mmcrawl.archive_display import KIND_STYLES
from mmcrawl.blocks.drawing import printable

__all__ = ["hits_view"]

_TOPIC = 80


def hits_view(results: Results) -> RenderableType:
    """Return the pages that were found, each by its best block."""
    lines: list[RenderableType] = []
    for hit in results.hits:
        lines += [*_hit_lines(hit), Text("")]
    shown = f", of which {len(results.hits)} are shown" if len(results.hits) < results.total else ""
    pages = "1 page" if results.total == 1 else f"{results.total} pages"
    lines.append(Text(f"{pages} found{shown}", "bold"))
    return Group(*lines)


def _hit_lines(hit: Hit) -> list[Text]:
    head = Text.assemble((printable(hit.url), "bold"))
    head.overflow = "fold"
    about = Text.assemble(
        (hit.kind or "body", KIND_STYLES.get(hit.kind, "")),
        f"  {printable(hit.topic, _TOPIC)}",
    )
    about.no_wrap, about.overflow = True, "ellipsis"
    seen = as_text(hit.first_time)
    if hit.version != hit.first_version:
        seen += f" to {as_text(hit.time)}"
    more = f"; {hit.blocks - 1} more blocks" if hit.blocks > 1 else ""
    return [head, about, _snippet(hit), Text(f"seen {seen}{more}", "dim")]


def _snippet(hit: Hit) -> Text:
    """Return the text of the hit with the words that match in colour."""
    snippet = hit.snippet
    text = Text("    ")
    end = 0
    for start, stop in snippet.marks:
        text.append(_clean(snippet.text[end:start]))
        text.append(_clean(snippet.text[start:stop]), "bold yellow")
        end = stop
    text.append(_clean(snippet.text[end:]))
    return text


def _clean(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)
