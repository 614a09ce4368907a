"""Names of licences: from the addresses and texts that pages write to codes as SPDX has them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from mmcrawl.text.words import unify

RESERVED = "all-rights-reserved"
UNSPECIFIED = "CC"

_LONGEST = 100_000  # characters that are read of a text
_ELEMENTS = ("by", "nc", "sa", "nd")
_CC_URL = re.compile(
    r"(?:creativecommons\.org|licensebuttons\.net)/(?:licen[sc]es|publicdomain|l|p)/"
    r"(?P<name>zero|mark|publicdomain|[a-z]{2}(?:[-+](?:nc|sa|nd)){0,2})"
    r"(?:/(?P<version>\d\.\d)(?:/(?P<port>[a-z]{2,3})(?=/|$))?)?",
    re.IGNORECASE,
)
_CC_HOME = re.compile(r"(?:^|[/.])creativecommons\.org(?:\.\w+)?(?:/|$)", re.IGNORECASE)
_OTHER_URLS = (
    (re.compile(r"gnu\.org/(?:licenses|copyleft)/fdl", re.IGNORECASE), "GFDL"),
    (re.compile(r"artlibre\.org/", re.IGNORECASE), "FAL"),
)
# What names the family; the elements follow it, or are it: "CC BY-SA", "署名-非商业性使用".
_FAMILY = re.compile(
    r"creative\s*commons|知识共享|创作共享|创作共用|创用\s*cc|共享创意|公共创作|"
    r"(?<![a-z])cc\s{0,9}[-_:/]?\s{0,9}(?:by|0|zero)(?![a-z])|"
    r"署名\s{0,9}[-—–_－,，、 ]?\s{0,9}(?:非商|相同|禁止)|"
    r"(?:姓名标示|署名)\s{0,9}[-—–_－ ]\s{0,9}\w",
)
_NAMES = {
    "by": r"(?<![a-z])by(?=[-_ /]|$|\d)|attribution|署名|姓名标示|paternit|atribui|atribuci"
    r"|attribuzione|namensnennung",
    "nc": r"(?<![a-z])nc(?![a-z])|non-?\s?commerc|noncomm|非商|非营利|非盈利"
    r"|utilisation commerciale|n[aã]o.?comercial|no.?comercial|nicht.?kommerziell",
    "sa": r"(?<![a-z])sa(?![a-z])|share.?alike|相同方式|同方式|保持一致|partage|compartil"
    r"|compartir|condividi|weitergabe",
    "nd": r"(?<![a-z])nd(?![a-z])|no.?deriv|禁止演绎|禁止改作|禁止修改|禁止衍生|pas de modif"
    r"|sem deriva|sin deriva|non opere derivate|keine bearbeitung",
}
_FIND = {element: re.compile(pattern) for element, pattern in _NAMES.items()}
_VERSION = re.compile(r"(?<![\d.])([1-4]\.[05])(?![\d.])")
_REACH = 110  # characters behind the family in which elements and version stand
_RESERVED = re.compile(
    r"all rights? reserved|版权所有|保留所有权|保留一切权|tous droits r[ée]serv[ée]s"
    r"|todos os direitos reservados|todos los derechos reservados|tutti i diritti riservati"
    r"|alle rechte vorbehalten"
)
_PUBLIC_DOMAIN = re.compile(
    r"(?:in|into|to) the public domain|属于公有领域|公有领域作品"
    r"|public domain (?:work|mark|dedication)"
)
_ZERO = re.compile(r"(?<![a-z])cc\s{0,9}[-_]?\s{0,9}(?:0|zero)(?![a-z])")


class Named(NamedTuple):
    """A licence that an address or text names: its code, the address of its text, what said it."""

    code: str
    url: str
    said: str


def licence_of_url(url: str) -> Named | None:
    """Return the licence that an address is of, also that of a badge; None for none.

    >>> licence_of_url("http://i.creativecommons.org/l/by-nc-sa/3.0/tw/88x31.png")[:2]
    ('CC-BY-NC-SA-3.0-TW', 'https://creativecommons.org/licenses/by-nc-sa/3.0/tw/')
    """
    if match := _CC_URL.search(url):
        name = match["name"].lower().replace("+", "-")
        return Named(*_creative_commons(name, match["version"], match["port"]), url)
    for pattern, code in _OTHER_URLS:
        if pattern.search(url):
            return Named(code, url, url)
    return Named(UNSPECIFIED, "", url) if _CC_HOME.search(url) else None


def licences_in_text(text: str) -> Iterator[Named]:
    """Yield the licences that a text names, in Chinese, English, and as other languages call them.

    >>> [named.code for named in licences_in_text("本作品採用創用CC 姓名標示-非商業性 3.0 授權")]
    ['CC-BY-NC-3.0']
    """
    text = text[:_LONGEST]
    plain = unify(text)
    end = 0
    for family in _FAMILY.finditer(plain):
        if family.start() < end:
            continue
        end = min(len(plain), family.start() + _REACH)
        here = plain[family.start() : end]
        said = text[family.start() : end] if len(text) == len(plain) else here
        if _ZERO.search(here):
            yield Named("CC0-1.0", "https://creativecommons.org/publicdomain/zero/1.0/", said)
            continue
        found = {element for element, pattern in _FIND.items() if pattern.search(here)}
        version = _VERSION.search(here)
        if found - {"by"} or ("by" in found):
            name = "-".join(element for element in _ELEMENTS if element in found | {"by"})
            yield Named(*_creative_commons(name, version and version[1], None), said)
        else:
            yield Named(UNSPECIFIED, "", said)
    for pattern, code in ((_PUBLIC_DOMAIN, "PDM-1.0"), (_RESERVED, RESERVED)):
        if match := pattern.search(plain):
            start = max(0, match.start() - 40)
            yield Named(code, "", plain[start : match.end() + 40])


def _creative_commons(name: str, version: str | None, port: str | None) -> tuple[str, str]:
    """Return code and address of a licence of Creative Commons."""
    if name == "zero":
        return "CC0-1.0", "https://creativecommons.org/publicdomain/zero/1.0/"
    if name in ("mark", "publicdomain"):
        return "PDM-1.0", "https://creativecommons.org/publicdomain/mark/1.0/"
    elements = [element for element in _ELEMENTS if element in re.split("[-+]", name)]
    name = "-".join(elements or ["by"])
    code = "-".join(filter(None, ("CC", name.upper(), version, (port or "").upper())))
    path = "/".join(filter(None, (name, version, (port or "").lower())))
    return code, f"https://creativecommons.org/licenses/{path}/" if version else ""
