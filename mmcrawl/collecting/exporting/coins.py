"""COinS: a reference inside a web page, which Zotero and other reference managers read."""

from html import escape
from urllib.parse import urlencode

from mmcrawl.collecting.works.model import Work

_TYPES = {"audio": "audioRecording", "video": "videoRecording"}


def coins(work: Work) -> str:
    """Return an empty element with a reference to a work (OpenURL 1.0, ANSI/NISO Z39.88-2004)."""
    page = work.pages[0].url if work.pages else work.files[0].url if work.files else ""
    said = [
        ("ctx_ver", "Z39.88-2004"),
        ("rft_val_fmt", "info:ofi/fmt:kev:mtx:dc"),
        ("rft.type", _TYPES.get(work.kind, "webpage")),
        ("rft.title", work.title),
        ("rft.creator", work.creator),
        ("rft.date", work.date),
        ("rft.description", work.caption),
        ("rft.language", ", ".join(work.languages)),
        ("rft.rights", work.licence.code if work.licence else ""),
        ("rft.identifier", page),
    ]
    query = urlencode([pair for pair in said if pair[1]], errors="replace")
    return f'<span class="Z3988" title="{escape(query)}"></span>'
