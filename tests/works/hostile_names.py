"""Names and titles as strangers, careless editors and broken programs make them."""

_RESERVED = ["CON", "nul.txt", "aux .mp4", "COM1", "lpt9.", "com¹", "CONIN$", "PRN"]
_PATHS = [
    *("../../../etc/passwd", "..", ".", "/", "/etc/passwd", "..\\..\\x", "C:\\x", "C:x", "~/x"),
    *("//h.test/x", "file:///etc/passwd", "%2e%2e%2fx", "%00", "%", "x/", "\\\\h\\share", "-rf"),
    *("x\0.mp4", "$(reboot)", "`id`", "; rm -rf", "| id", "&& id", "*?", "x.mp4:stream", "a//b"),
]
_MARKUP = [
    *("<script>alert(1)</script>", "</title><b>", "<!--", "-->", "]]>", "<![CDATA[", "&lt;", "&"),
    *(
        "&#0;",
        "&#xD800;",
        "&nosuch;",
        '"',
        "'",
        "\"'<>&",
        "<a href=javascript:alert(1)>",
        "{{7*7}}",
    ),
    *("{% raw %}", "${7*7}", "%s%n", "<?xml version='1.0'?>", "<!DOCTYPE x [<!ENTITY a 'b'>]>"),
    *(
        "javascript:alert(1)",
        "\\",
        "\\u0000",
        "\\n",
        "a\\",
        '"}',
        "' OR 1=1 --",
        "\u2028",
        "\u2029",
    ),
]
_FORMULAS = [
    *("=1+1", "+1", "-1+1", "@SUM(1)", "\uff1d1", "\u200b=1", "\ufeff=1", "\t=1", "-1", " =1")
]
_LINES = [
    *("a\nb", "a\r\nb", "\n", "\r", "\t", " ", "   ", "\u3000", "\xa0", "\x0b\x0c", "\x85"),
    "TY  - X\nER  - ",
]
_CONTROLS = [
    *("\0", "a\0b", "\x01\x02", "\x1b[31mred", "\x7f", "\x80\x9f", "\ud800", "a\udfff"),
    "\ud83d\ude00",
]
_CONTROLS += ["\ufffe", "\uffff", "\U0001fffe", "\U0010ffff", "\ufffd", "\ue000"]
_SCRIPTS = [
    *("\u202egpj.exe", "a\u202eb\u202c", "\u2066x", "\u200e", "\u200f\u061c", "\u200b", "\u2060"),
    *("שלום", "مرحبا", "👩‍👩‍👧‍👦", "🇨🇳", "é", "e\u0301", "e" + 300 * "\u0301", "ﬁ", "İ", "ß", "ǆ"),
    *("物理", "ﷺ", "𝕏", "\U000e0041", "ก็็็็็", "ཧཱུྃ"),
]
_LONG = [
    *(size * "a" for size in (64, 150, 244, 245, 246, 255, 256, 5_000, 100_000)),
    *(size * "物" for size in (81, 82, 85, 200, 5_000)),
    *(size * "ß" for size in (122, 123, 200)),
    *(" ".join(["word"] * 2_000), 300 * "\U0001f600", 100 * "ﷺ", "b" + 244 * "A", 83 * "İ"),
    *(1_000 * "a ", 500 * "-", 500 * "_", "http://h.test/" + 300 * "x", 300 * "a.", 200 * "a'"),
]
HOSTILE = ["", *_RESERVED, *_PATHS, *_MARKUP, *_FORMULAS, *_LINES, *_CONTROLS, *_SCRIPTS, *_LONG]
"""All, each once."""
