"""The encoding of a page: as declared, unless the bytes contradict it.

Order: byte order mark, ``Content-Type`` header, meta tag, then the bytes themselves. A declaration
is overruled only by evidence: the body is strictly valid UTF-8 with enough characters outside
ASCII, or decoding leaves many replacement characters, or a Western European encoding is declared
for what reads as Chinese (servers that add ``charset=iso-8859-1`` to every page).

Undeclared bytes are guessed by chardet, whose statistics need some words. In a page with one
Chinese title, or one accented letter, they find Cyrillic and box drawing. There the share of common
Chinese characters decides, and otherwise the default of browsers, windows-1252.
"""

import re
from functools import lru_cache

import chardet
import webencodings
from w3lib.encoding import (
    read_bom,
    resolve_encoding,
    to_unicode,
)

from mmcrawl.page.headers import bounded
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
_GUESS_SAMPLE = 200_000  # bytes read for a guess
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

# Python names of the encodings that browsers know, and of those that older programs wrote; other
# codecs (rot13, hex, utf-7) are no charsets.
_KNOWN = frozenset(
    """
    utf-8 utf-16 utf-16-le utf-16-be gb18030 big5hkscs hz euc_jp iso2022_jp iso2022_kr johab cp932
    cp949 cp874 koi8-r koi8-u koi8-t mac-roman mac-cyrillic mac-greek mac-latin2 mac-turkish
    cp437 cp737 cp775 cp850 cp852 cp855 cp857 cp858
    """.split()
).union(
    (f"cp125{n}" for n in range(9)),
    (f"cp86{n}" for n in range(10) if n != 7),
    (f"iso8859-{n}" for n in range(2, 17)),
)
_IN_ASCII = ("utf-16", "hz", "iso2022")  # encodings that write other characters in ASCII's bytes
# A declaration by a label that browsers know and Python does not: windows-949, x-gbk.
_HEADER_LABEL = re.compile(r"""charset\s{0,99}=\s*+["']?+\s*+([\w.:-]{1,40})""", re.IGNORECASE)
_META_LABEL = re.compile(
    rb"""<(?:meta\s[^>]{0,500}?charset|\?xml\s[^>]{0,500}?encoding)\s{0,9}=\s{0,9}["']?\s{0,9}"""
    rb"([\w.:-]{1,40})",
    re.IGNORECASE,
)
_COMMENT = re.compile(rb"<!--.*?(?:-->|$)", re.DOTALL)
_HEAD = 4_096  # bytes that are searched first
_MANY_ERRORS = 0.02  # share of the characters outside ASCII
_LEAST_ERRORS = 4
_SAMPLE = 200_000  # bytes
_UTF8_LONG = re.compile(rb"[\xe0-\xf4][\x80-\xbf]{2,3}")
_UTF8_SHORT = re.compile(rb"[\xc2-\xdf][\x80-\xbf]")
_UTF_32 = re.compile(rb"(?P<be>\0\0\xfe\xff|(?:\0{3}\s)*\0{3}<)|\xff\xfe\0\0|(?:\s\0{3})*<\0{3}")


def page_encoding(body: bytes, content_type: str | None = None) -> str:
    """Return the Python name of a page's encoding."""
    bom_encoding, _ = read_bom(body)
    if bom_encoding == "utf-32-le":
        return "utf-16-le"  # as browsers read these bytes; the mark of utf-32-be is none to them
    if bom_encoding is None or bom_encoding == "utf-32-be":
        return _encoding_without_bom(body, content_type)
    return bom_encoding


def text_of_utf_32(body: bytes) -> str | None:
    """Return the text of a page in UTF-32, which browsers do not read; None if it is in another.

    >>> text_of_utf_32("<p>a".encode("utf-32-be")), text_of_utf_32(b"<p>a")
    ('<p>a', None)
    """
    wide = _UTF_32.match(body)
    if wide is None:
        return None
    return body.decode("utf-32-be" if wide["be"] else "utf-32-le", "replace").lstrip("\ufeff")


def codec_of(label: str) -> str | None:
    """Return the Python name of an encoding that browsers know, by any of its labels, or None.

    >>> codec_of("GBK"), codec_of("latin1"), codec_of("utf-7")
    ('gb18030', 'cp1252', None)
    """
    try:
        return _by_label(label)
    except ValueError:  # not a label at all: a NUL in it
        return None


def decode_page(body: bytes, content_type: str | None) -> tuple[str, bytes]:
    """Return the encoding of a page and the page as UTF-8, without byte order mark and NULs."""
    bom_encoding, bom = read_bom(body)
    if bom_encoding is not None and bom is not None:
        encoding, body = bom_encoding, body[len(bom) :]
    else:
        encoding = _encoding_without_bom(body, content_type)
    if encoding == UTF8 and _is_utf8(body):
        utf8 = body
    else:
        utf8 = to_unicode(body, encoding).encode(UTF8, "replace")
    return encoding, utf8.replace(b"\x00", b"") if b"\x00" in utf8 else utf8


def _encoding_without_bom(body: bytes, content_type: str | None) -> str:
    wide = wide_encoding(body)
    if wide is not None:
        return wide
    declared = _in_header(content_type) or _in_meta(body[:_HEAD])
    if body.isascii() and not (declared or "").startswith(_IN_ASCII):
        return declared or shifted_encoding(body) or UTF8
    valid_utf8 = _is_utf8(body)
    if declared is None and valid_utf8:
        return GB if is_short_chinese(body) else UTF8
    declared = declared or _in_meta(body)
    if declared is None:
        return guess_encoding(body)
    return _overruled(body, declared, valid_utf8) or declared


def _in_header(content_type: str | None) -> str | None:
    label = _HEADER_LABEL.search(bounded(content_type or ""))
    return _by_label(label[1]) if label else None


def _in_meta(body: bytes) -> str | None:
    """Return the encoding that a meta tag or an XML declaration names, as browsers read it."""
    label = _META_LABEL.search(_COMMENT.sub(b"", body))
    declared = _by_label(label[1].decode("ascii", "replace")) if label else None
    # It could not have been read if it were in UTF-16.
    return UTF8 if declared is not None and declared.startswith("utf-16") else declared


def _by_label(label: str) -> str | None:
    """Return the Python name of an encoding that the WHATWG standard lists, or Python knows."""
    encoding = webencodings.lookup(label)
    name = resolve_encoding(encoding.codec_info.name if encoding is not None else label)
    return name if name in _KNOWN else None


def _overruled(body: bytes, declared: str, valid_utf8: bool) -> str | None:
    """Return the encoding that the bytes show in place of the declared one, or None."""
    if declared == UTF8:
        return None if valid_utf8 else _in_place_of_utf8(body)
    if declared.startswith("utf-16"):
        # Markup in UTF-16 has NULs.
        return UTF8 if valid_utf8 and b"\0" not in body else None
    if valid_utf8 and (declared == WESTERN or _is_surely_utf8(body)):
        return UTF8
    if declared == WESTERN:
        return chinese_encoding(body, CERTAINLY_CHINESE)
    share = _error_share(body, declared)
    if share <= _MANY_ERRORS:
        return None
    guessed = guess_encoding(body)
    return guessed if _error_share(body, guessed) < share else None


def _in_place_of_utf8(body: bytes) -> str | None:
    """Return the encoding of bytes declared as UTF-8 that are not; None for broken UTF-8."""
    characters = sample_characters(body, UTF8)
    errors = characters.count("\ufffd")
    # In another encoding hardly a character is valid; one broken byte is no other encoding.
    if 2 * errors <= len(characters):
        return None
    return guess_encoding(body) if errors >= _LEAST_ERRORS else chinese_encoding(body)


def _is_surely_utf8(body: bytes) -> bool:
    """Whether bytes are too many to be valid UTF-8 by chance."""
    sample = body[:_SAMPLE]
    return len(_UTF8_LONG.findall(sample)) >= 3 or len(_UTF8_SHORT.findall(sample)) >= 6


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode(UTF8)
    except UnicodeDecodeError as error:
        # A body cut off in the middle of a character is UTF-8 all the same.
        cut_off = error.reason == "unexpected end of data"
        return cut_off and not body[: error.start].isascii()
    return True


def _error_share(body: bytes, encoding: str) -> float:
    characters = sample_characters(body, encoding)
    return characters.count("\ufffd") / len(characters) if characters else 0.0


def guess_encoding(body: bytes) -> str:
    """Return the Python name of the encoding that reads best for what is not valid UTF-8.

    It is windows-1252 where nothing tells.
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
    """Return the Chinese encoding that reads best; None if too few characters are common ones."""
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
    text = to_unicode(body[:_GUESS_SAMPLE], encoding)
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
