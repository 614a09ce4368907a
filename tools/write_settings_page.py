"""Writes docs/reference/settings.md from what mmcrawl.settings declares:

python tools/write_settings_page.py
"""

from pathlib import Path

from mmcrawl.settings import declared

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "settings.md"
HEAD = """# Settings

All of [Scrapy's settings](https://docs.scrapy.org/en/latest/topics/settings.html) work. These are
ours; give them with `-s NAME=VALUE`, or in the settings of your project. A value that is not
allowed is answered with one sentence and exit code 2 before anything begins.

| setting | default | what it does |
|---|---|---|
"""


def settings_page() -> str:
    """Return the page."""
    rows = (
        f"| `{each.name}` | `{each.shown_default}` | {each.help}"
        + (f" ({each.may_be})" if each.may_be else "")
        + " |\n"
        for each in declared.values()
    )
    return HEAD + "".join(rows)


if __name__ == "__main__":
    PAGE.write_text(settings_page(), encoding="utf-8")
