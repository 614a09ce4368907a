"""The language of a page or work: declared, or told by its script and commonest words."""

import re
from collections import Counter

from mmcrawl.text.scripts import HAN

_TAG = re.compile(r"([a-z]{2,3})(?:[-_]([a-z]{4}))?(?:[-_]([a-z]{2}|\d{3}))?(?![a-z])", re.I)
_READ = 20_000  # characters
_LEAST = 40  # letters that tell a language
_SHARE = 0.3  # of a script's characters among the letters
_KANA, _HANGUL = re.compile("[\u3041-\u30ff]"), re.compile("[\uac00-\ud7a3]")
_CHINESE = re.compile(f"[{HAN}]")
_LETTER = re.compile(r"[^\W\d_]")
_OTHER_SCRIPTS = {
    "ru": re.compile("[\u0400-\u04ff]"),
    "ar": re.compile("[\u0600-\u06ff]"),
    "he": re.compile("[\u0590-\u05ff]"),
    "el": re.compile("[\u0370-\u03ff]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
    "hi": re.compile("[\u0900-\u097f]"),
}
_WORDS = {
    "en": "the and of to is that with this for are was you",
    "de": "der die und das ist nicht ein mit auf für von sich",
    "fr": "le les et des est une que pour dans pas vous sur",
    "es": "el los las que es una con por para del como más",
    "pt": "que não uma com para os as do da você mais são",
    "it": "il di che è non una per con del della sono gli",
    "nl": "de het een van en dat niet zijn voor met ook",
}
_LEAST_WORDS = 8


def language_tag(text: str) -> str:
    """Return a declared language as BCP 47 writes it; "" if it is none.

    >>> language_tag("zh_cn"), language_tag("EN"), language_tag("zh-hant-TW"), language_tag("auto")
    ('zh-CN', 'en', 'zh-Hant-TW', '')
    """
    match = _TAG.fullmatch(text.strip().partition(",")[0])
    if match is None:
        return ""
    parts = (match[1].lower(), (match[2] or "").title(), (match[3] or "").upper())
    return "-".join(filter(None, parts))


def language_of_text(text: str) -> str:
    """Return the language that a text is in, without its region; "" where too little tells."""
    text = text[:_READ]
    letters = len(_LETTER.findall(text))
    if letters < _LEAST:
        return ""
    han, kana = len(_CHINESE.findall(text)), len(_KANA.findall(text))
    if kana > 0.1 * letters:
        return "ja"
    if len(_HANGUL.findall(text)) > _SHARE * letters:
        return "ko"
    if han > _SHARE * letters:
        return "zh"
    for language, script in _OTHER_SCRIPTS.items():
        if len(script.findall(text)) > _SHARE * letters:
            return language
    words = Counter(re.findall(r"[^\W\d_]+", text.lower()))
    counts = {
        language: sum(words[word] for word in common.split()) for language, common in _WORDS.items()
    }
    best, second = sorted(counts, key=lambda one: -counts[one])[:2]
    clear = counts[best] >= _LEAST_WORDS and counts[best] > 1.5 * counts[second]
    return best if clear else ""


def language_of(declared: str, text: str) -> str:
    """Return the language of a page: the declared one, unless its text is in another.

    Themes declare English whatever is written with them: text wins, but where it agrees the
    declaration says more (``zh-TW``).
    """
    tag, told = language_tag(declared), language_of_text(text)
    if tag and (not told or tag.partition("-")[0] == told):
        return tag
    return told or tag
