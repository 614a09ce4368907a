"""Simulations that their hosts offer as one file, so that they run offline.

A simulation of PhET is one page that holds everything it needs; GeoGebra serves the file of a
material.
"""

import re

GEOGEBRA = "application/vnd.geogebra.file"
HTML = "text/html"

_PHET_FILE = re.compile(r"https?://phet\.colorado\.edu/sims/html/[\w-]+/[\w.-]+/[\w-]+\.html")
_PHET_PAGE = re.compile(
    r"https?://phet\.colorado\.edu/(\w\w(?:[_-]\w\w)?)/simulations?/(?!legacy)([a-z][a-z-]+)/?$"
)
_GEOGEBRA = re.compile(
    r"https?://(?:www\.)?geogebra\.org/(?:m|classic|material/(?:iframe|show|simple)/id)/([A-Za-z0-9]+)"
)


def bundle_of(url: str) -> tuple[str, str]:
    """Return the address of a file that runs by itself, and its type; "" and "" without one.

    >>> bundle_of("https://phet.colorado.edu/zh_CN/simulations/bending-light")[0]
    'https://phet.colorado.edu/sims/html/bending-light/latest/bending-light_zh_CN.html'
    >>> bundle_of("https://www.geogebra.org/m/a1B2c3")[0]
    'https://www.geogebra.org/material/download/format/file/id/a1B2c3'
    """
    if match := _PHET_FILE.match(url):
        return match[0], HTML
    if match := _PHET_PAGE.match(url):
        language, _, country = match[1].replace("-", "_").partition("_")
        language += f"_{country.upper()}" if country else ""
        return (
            f"https://phet.colorado.edu/sims/html/{match[2]}/latest/{match[2]}_{language}.html",
            HTML,
        )
    if match := _GEOGEBRA.match(url):
        return f"https://www.geogebra.org/material/download/format/file/id/{match[1]}", GEOGEBRA
    return "", ""
