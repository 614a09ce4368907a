"""Guesses the encoding of undeclared bytes: by chardet, and for few bytes by how Chinese they read.

chardet's statistics need some words. In a page with one Chinese title, or one accented letter, they
find Cyrillic and box drawing. There the share of common Chinese characters decides, and otherwise
the default of browsers, windows-1252.
"""

import re
from functools import lru_cache

import chardet
from w3lib.encoding import resolve_encoding, to_unicode

from mmcrawl.text.patterns import linear

UTF8 = "utf-8"
GB = "gb18030"
BIG5 = "big5hkscs"
WESTERN = "cp1252"
_FEW_BYTES = 16

# What pages were written in; without the code pages of mainframes and DOS, which read anything.
_CANDIDATES = """
    cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 cp874 tis-620 koi8-r koi8-u
    iso8859-1 iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-9
    iso8859-10 iso8859-13 iso8859-14 iso8859-15 iso8859-16 mac-cyrillic mac-roman cp855 cp866
    gb18030 big5hkscs euc_jis_2004 cp932 shift_jis_2004 cp949 euc_kr johab
    hz iso2022_kr iso2022_jp_2 iso2022_jp_2004 iso2022_jp_ext
""".split()
# As browsers read them.
_PLAIN_NAMES = {
    "euc_jis_2004": "euc_jp",
    "shift_jis_2004": "cp932",
    "iso2022_jp_2": "iso2022_jp",
    "iso2022_jp_2004": "iso2022_jp",
    "iso2022_jp_ext": "iso2022_jp",
}
# The least bytes outside ASCII that an encoding stands on: other alphabets come in words, and what
# few pages were written in needs more than one.
_LEAST_BYTES = {"mac-cyrillic": 10, "mac-roman": 10, "cp855": 10, "cp866": 6}
_LEAST_OTHERS = 4
_LATIN = frozenset("cp1250 cp1252 cp1254 cp1257 iso8859-2 iso8859-15 iso8859-16".split())
_SAMPLE = 200_000  # bytes read for a guess
_LONGEST_SAMPLE = 64_000  # bytes of lines outside ASCII that chardet is given
_SAMPLE_CHARACTERS = 2_000
_TAG = re.compile(rb"<[^<>]*>")
_SHIFTS = re.compile(rb"\x1b[$(]|~\{")  # of encodings that write everything in ASCII's bytes
_ALONE = re.compile(
    rb"(?<![\x80-\xff])[\x80-\xff](?=[A-Za-z])|(?<=[A-Za-z])[\x80-\xff](?![\x80-\xff])"
)
_READS_AS_CHINESE = 0.35
CERTAINLY_CHINESE = 0.6
_WITHOUT_DOUBT_CHINESE = 0.9
_UNSURE = 0.1  # chardet's confidence in what few bytes are
_WIDE_SAMPLE, _WIDE_SHARE = 4_096, 20  # bytes; one in so many is a NUL
_ASCII = bytes(range(128))
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_NOT_ASCII_RUN = re.compile(rb"[\x80-\xff]+")
_UTF8_CJK = re.compile(rb"[\xe3-\xe9][\x80-\xbf]{2}")
_NARROW_MARKUP = re.compile(rb"<[a-zA-Z/!][a-zA-Z]{2}|</?[a-z]>")  # with stray NULs at most
# Markup of which each character has NULs beside it: what it says of itself cannot be read.
_WIDE_MARKUP = (
    (linear(rb"\A(?:\s\0)*+<\0[!?/a-zA-Z]\0"), "utf-16-le"),
    (linear(rb"\A(?:\0\s)*+\0<\0[!?/a-zA-Z]"), "utf-16-be"),
)
# Characters by frequency of use, and those of school subjects and course sites.
_COMMON_SIMPLIFIED = (
    "的是一不人国有在了中这为以要个和资来我本大上会用就时物可到文能务年分家于他对方政们动生业行也发地出流所成民得"
    "力作公定自后理经新下市面学同其网现而日机与服多间都之如部种投最过些度主说商府化高明前没制实外全者设进子产更性还"
    "社工建事体合因法入各术意从代数信位特使目那内心然类但开相平加表关或小样等量图只通基及论式你标城比此它点当起配司"
    "把权运道电看么场神计问区万由原好做重月程提知题利两车向系气无项很世章结果报三北许第应情期件管变解洋并再回送去器"
    "已职安速单着签品营语改将保天被飞里推施形规打础英先展界企收次站四正价美决想具二准像名十买头活西史员长构总局页办"
    "统常示立满己备少研首教手治别完何较显整路科影非始交话受专源又评元况给风至身快共义转女石传据接必则质包户处取供息"
    "任线书口求型门真极条客广台算今格强省百效空该金指认联越容断足课视频音乐初级校堂练习试卷验讲堂析教案资料载师声光"
    "热磁波核粒速振械欢迎版播放歌曲听师友链搜索登录注册帮助化课程动画历古诗词素复查询医"
)
_COMMON_TRADITIONAL = (
    "的是一不人國有在了中這為以要個和資來我本大上會用就時物可到文能務年分家於他對方政們動生業行也發地出流所成民得"
    "力作公定自後理經新下市面學同其網現而日機與服多間都之如部種投最過些度主說商府化高明前沒制實外全者設進子產更性還"
    "社工建事體合因法入各術意從代數信位特使目那內心然類但開相平加表關或小樣等量圖只通基及論式你標城比此它點當起配司"
    "把權運道電看麼場神計問區萬由原好做重月程提知題利兩車向系氣無項很世章結果報三北許第應情期件管變解洋並再回送去器"
    "已職安速單著簽品營語改將保天被飛裡推施形規打礎英先展界企收次站四正價美決想具二準像名十買頭活西史員長構總局頁辦"
    "統常示立滿己備少研首教手治別完何較顯整路科影非始交話受專源又評元況給風至身快共義轉女石傳據接必則質包戶處取供息"
    "任線書口求型門真極條客廣臺台算今格強省百效空該金指認聯越容斷足課視頻音樂初級校堂練習試卷驗講析案料載師聲光"
    "熱磁波核粒振械歡迎版播放歌曲聽友鏈搜尋登錄註冊幫助畫歷古詩詞素複查詢輯訪訊"
)
_PUNCTUATION = "　、。，；：？！“”‘’（）《》「」【】—…·"


def guess_encoding(body: bytes) -> str:
    """Return the Python name of the encoding that reads best; windows-1252 where nothing tells.

    Args:
        body: Not valid UTF-8.
    """
    outside = len(body.translate(None, _ASCII))
    told, confidence = _told_by_chardet(body)
    if outside <= _FEW_BYTES and confidence < _UNSURE:
        alone = _ALONE.search(body) is not None
        least = _WITHOUT_DOUBT_CHINESE if alone else CERTAINLY_CHINESE
        chinese = chinese_encoding(body, least) if outside >= _LEAST_OTHERS or not alone else None
        if chinese is not None:
            return chinese
    if (outside < _LEAST_OTHERS and confidence < _UNSURE / 2) or outside < _least_bytes(told):
        return WESTERN
    # Quotation marks and dashes are alike in all code pages of Windows.
    same = sample_characters(body, told) == sample_characters(body, WESTERN)
    return WESTERN if same else told


def shifted_encoding(body: bytes) -> str | None:
    """Return the encoding of a body in ASCII that shifts to other characters: HZ or ISO-2022.

    >>> shifted_encoding("物理".encode("iso2022_jp")), shifted_encoding(b"lever")
    ('iso2022_jp', None)
    """
    if not _SHIFTS.search(body):
        return None
    told, _ = _told_by_chardet(body)
    return told if told.startswith(("hz", "iso2022")) else None


def wide_encoding(body: bytes) -> str | None:
    """Return the UTF-16 encoding of a body without byte order mark, None if it is in another.

    Text of any language has spaces, line breaks and markup, and NULs in half of their bytes.

    >>> wide_encoding("<p>物理".encode("utf-16-be")), wide_encoding(b"<p>")
    ('utf-16-be', None)
    """
    sample = body[:_WIDE_SAMPLE]
    if b"\0" not in sample:
        return None
    for markup, encoding in _WIDE_MARKUP:
        if markup.match(sample):
            return encoding
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    few, many = sorted((even, odd))
    if few * 20 > many or many * _WIDE_SHARE < len(sample) or _NARROW_MARKUP.search(sample):
        return None
    encoding = "utf-16-be" if even == many else "utf-16-le"
    text = sample[: len(sample) // 2 * 2].decode(encoding, "replace")
    return encoding if text.count("\ufffd") <= 1 else None


def chinese_encoding(body: bytes, least: float = _READS_AS_CHINESE) -> str | None:
    """Return the Chinese encoding that reads best, or None if the bytes do not read as Chinese.

    Args:
        body: Of a page.
        least: Share of the characters outside ASCII that are to be common ones.
    """
    scores = {encoding: _chinese_share(body, encoding) for encoding in (GB, BIG5)}
    best = max(scores, key=lambda encoding: scores[encoding])
    return best if scores[best] >= least else None


def is_short_chinese(body: bytes) -> bool:
    """Whether a few bytes that happen to be valid UTF-8 are common characters in GB18030 (医学)."""
    if _UTF8_CJK.search(body) or len(body.translate(None, _ASCII)) > _FEW_BYTES:
        return False
    # Accented letters stand alone, Chinese characters in runs.
    in_runs = all(len(run) >= 4 for run in _NOT_ASCII_RUN.findall(body))
    return in_runs and _chinese_share(body, GB) > 0.9


def sample_characters(body: bytes, encoding: str) -> str:
    """Return characters outside ASCII, from the beginning of a body."""
    text = to_unicode(body[:_SAMPLE], encoding)
    return "".join(_NOT_ASCII.findall(text)[:_SAMPLE_CHARACTERS])


def _told_by_chardet(body: bytes) -> tuple[str, float]:
    found = chardet.detect(_telling_bytes(body), compat_names=False, include_encodings=_CANDIDATES)
    name = found["encoding"] or WESTERN
    return _PLAIN_NAMES.get(name, resolve_encoding(name) or WESTERN), found["confidence"]


def _telling_bytes(body: bytes) -> bytes:
    """Return the lines outside ASCII without their tags, which are the same in any language."""
    if body.isascii():
        return body
    text = _TAG.sub(b" ", body)
    lines = b"\n".join(line for line in text.splitlines() if not line.isascii())
    return (lines or body)[:_LONGEST_SAMPLE]


def _least_bytes(encoding: str) -> int:
    return 0 if encoding in _LATIN else _LEAST_BYTES.get(encoding, _LEAST_OTHERS)


def _chinese_share(body: bytes, encoding: str) -> float:
    """Share of the characters outside ASCII that are common, rare ones counting a little."""
    characters = sample_characters(body, encoding)
    if not characters:
        return 0.0
    common = _common(encoding)
    score = sum(1.0 if c in common else _rare_weight(c, encoding) for c in characters)
    return score / len(characters)


def _rare_weight(character: str, encoding: str) -> float:
    """The weight of a character that is not in the table: code page rows are ordered by use."""
    if character == "\ufffd":
        return -1.0
    row = character.encode(encoding, "replace")
    if encoding == GB:
        return 0.4 if 0xB0 <= row[0] <= 0xD7 and row[1] >= 0xA1 else 0.0
    return 0.4 if 0xA4 <= row[0] <= 0xC6 else 0.0


@lru_cache(maxsize=2)
def _common(encoding: str) -> frozenset[str]:
    letters = _COMMON_SIMPLIFIED if encoding == GB else _COMMON_TRADITIONAL
    return frozenset(letters + _PUNCTUATION)
