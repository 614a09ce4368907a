"""Names and titles as strangers, careless editors and broken programs make them."""

# fmt: off
_RESERVED = ["CON", "nul.txt", "aux .mp4", "lpt9.", "com¹", "CONIN$"]
_PATHS = [
    "../../../etc/passwd", "..", ".", "/", "/etc/passwd", "..\\..\\x", "C:\\x", "~/x",
    "//h.test/x", "file:///etc/passwd", "%2e%2e%2fx", "%00", "%", "x/", "\\\\h\\share", "-rf",
    "x\0.mp4", "$(reboot)", "`id`", "; rm -rf", "*?", "x.mp4:stream", "a//b",
]
_MARKUP = [
    "<script>alert(1)</script>", "</title><b>", "<!--", "-->", "]]>", "<![CDATA[", "&lt;", "&",
    "&#0;", "&#xD800;", "&nosuch;", "\"'<>&", "<a href=javascript:alert(1)>", "{{7*7}}",
    "{% raw %}", "%s%n", "<?xml version='1.0'?>", "<!DOCTYPE x [<!ENTITY a 'b'>]>",
    "javascript:alert(1)", "\\", "\\u0000", "a\\", '"}', "' OR 1=1 --", "\u2028", "\u2029",
]
_FORMULAS = ["=1+1", "-1+1", "@SUM(1)", "\uff1d1", "\u200b=1", "\ufeff=1", "\t=1", " =1"]
_LINES = ["a\nb", "a\r\nb", "\n", "\t", "   ", "\u3000", "\xa0", "\x0b\x0c", "TY  - X\nER  - "]
_CONTROLS = [
    "\0", "a\0b", "\x01\x02", "\x1b[31mred", "\x7f", "\x80\x9f", "\ud800", "a\udfff",
    "\ud83d\ude00", "\ufffe", "\uffff", "\U0001fffe", "\U0010ffff", "\ue000",
]
_SCRIPTS = [
    "\u202egpj.exe", "a\u202eb\u202c", "\u2066x", "\u200e", "\u200f\u061c", "שלום", "👩\u200d👧",
    "🇨🇳", "é", "e\u0301", "e" + 300 * "\u0301", "ﬁ", "İ", "ß",
    "物理", "ﷺ", "𝕏", "\U000e0041", "ཧཱུྃ",
]
_LONG = [
    *(size * "a" for size in (150, 244, 245, 246, 255, 256, 5_000)),
    *(size * "物" for size in (81, 82, 85, 5_000)), 122 * "ß", 123 * "ß",
    " ".join(["word"] * 2_000), 300 * "\U0001f600", 100 * "ﷺ", "b" + 244 * "A", 83 * "İ", 500 * "-",
    300 * "a.", 200 * "a'",
]
# fmt: on
HOSTILE = ["", *_RESERVED, *_PATHS, *_MARKUP, *_FORMULAS, *_LINES, *_CONTROLS, *_SCRIPTS, *_LONG]
"""All, each once."""
