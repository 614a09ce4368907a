"""Players on media hosts: which URLs name one item, as opposed to a channel or home page."""

from __future__ import annotations

import re

from mmcrawl.page.media import AUDIO, VIDEO

# (domain, path and query of an item, kind). A domain stands for its subdomains too; the
# patterns are anchored at the start of the path and read no further than the item's name.
_HOSTS = (
    ("youtube.com", r"/(?:watch/?\?(?:[^#]*&)?v=|(?:embed|v|shorts|live|e)/)[\w-]{5,}", VIDEO),
    ("youtube.com", r"/embed/?\?(?:[^#]*&)?list=[\w-]{5,}", VIDEO),
    ("youtube-nocookie.com", r"/(?:embed|v)/[\w-]{5,}", VIDEO),
    ("youtu.be", r"/[\w-]{5,}", VIDEO),
    ("vimeo.com", r"/(?:(?:channels|groups|album|showcase)/[\w-]+/(?:videos?/)?)?\d+", VIDEO),
    ("player.vimeo.com", r"/video/\d+", VIDEO),
    ("archive.org", r"/embed/[^/?#]+", VIDEO),
    ("dailymotion.com", r"/(?:embed/)?(?:video|swf)/[\w-]+", VIDEO),
    ("dailymotion.com", r"/player[\w./-]*\?(?:[^#]*&)?video=\w+", VIDEO),
    ("dai.ly", r"/\w+", VIDEO),
    ("ted.com", r"/talks/(?:lang/[\w-]+/)?(?!browse\b|search\b)\w[\w-]+", VIDEO),
    ("youku.com", r"/(?:v_show/id_|embed/|player\.php/(?:\w+/\w+/)*sid/)[\w=]+", VIDEO),
    ("tudou.com", r"/(?:programs/view|v|listplay|albumplay|l|a)/[\w-]+", VIDEO),
    ("bilibili.com", r"/(?:s/)?video/(?:av\d+|BV\w+)", VIDEO),
    ("bilibili.com", r"/bangumi/play/(?:ss|ep)\d+", VIDEO),
    (
        "bilibili.com",
        r"/(?:blackboard/)?[\w-]*player\.html\?(?:[^#]*&)?(?:aid|bvid|cid)=\w+",
        VIDEO,
    ),
    ("b23.tv", r"/(?:av\d+|BV\w+)", VIDEO),
    ("v.qq.com", r"/x/(?:page|cover)/[\w/]+\.html", VIDEO),
    ("v.qq.com", r"/(?:txp/)?iframe/(?:player|preview)\.html\?(?:[^#]*&)?vid=\w+", VIDEO),
    ("video.qq.com", r"/\w+\.swf\?(?:[^#]*&)?vid=\w+", VIDEO),
    ("iqiyi.com", r"/v_\w+\.html", VIDEO),
    ("open.iqiyi.com", r"/developer/player_js/[\w/]*\.html\?(?:[^#]*&)?vid=\w+", VIDEO),
    ("56.com", r"/(?:u\d+/v_|iframe/|v_)\w+", VIDEO),
    ("ku6.com", r"/(?:show|refer)/[\w.-]{8,}", VIDEO),
    ("tv.sohu.com", r"/(?:v/|\d{8}/n\d+)[\w=]*", VIDEO),
    ("open.163.com", r"/(?:movie/\d+/\d+/\d+/\w+\.html|newview/movie/\w+\?)", VIDEO),
    ("facebook.com", r"/plugins/video\.php\?(?:[^#]*&)?href=", VIDEO),
    ("khanacademy.org", r"/embed_video\?(?:[^#]*&)?v=[\w-]+", VIDEO),
    ("wistia.net", r"/embed/iframe/\w+", VIDEO),
    ("wistia.com", r"/(?:embed/iframe|medias)/\w+", VIDEO),
    ("rutube.ru", r"/(?:video|play/embed)/\w{6,}", VIDEO),
    ("nicovideo.jp", r"/watch/\w+", VIDEO),
    ("soundcloud.com", r"/player/?\?(?:[^#]*&)?url=", AUDIO),
    (
        "soundcloud.com",
        r"/(?!discover\b|search\b|charts\b|pages\b|you\b|stream\b|tags\b|player\b)[\w-]+/"
        r"(?!(?:tracks|albums|sets|reposts|likes|following|followers|comments|popular-tracks)"
        r"/?(?:$|[?#]))[\w-]+",
        AUDIO,
    ),
    ("spotify.com", r"/(?:embed(?:-podcast)?/)?(?:track|episode)/\w+", AUDIO),
    ("spotify.com", r"/embed(?:-podcast)?/(?:album|playlist|show)/\w+", AUDIO),
    ("music.163.com", r"/outchain/player\?(?:[^#]*&)?id=\d+", AUDIO),
    ("ximalaya.com", r"/(?:(?:[\w-]+/)?\d+/)?sound/\d+", AUDIO),
    ("mixcloud.com", r"/widget/iframe/?\?(?:[^#]*&)?feed=", AUDIO),
)
_BY_DOMAIN = {
    domain: [
        (re.compile(item, re.IGNORECASE), kind) for name, item, kind in _HOSTS if name == domain
    ]
    for domain, _, _ in _HOSTS
}


def hosted_kind(host: str, path_and_query: str) -> str | None:
    """Return the kind of the item that a player's URL names, or None.

    Args:
        host: In lower case, without port.
        path_and_query: From the first slash on.

    >>> hosted_kind("www.youtube.com", "/watch?v=dQw4w9WgXcQ")
    'video'
    >>> hosted_kind("www.youtube.com", "/user/mit") is None
    True
    """
    domain = host
    while "." in domain:
        for item, kind in _BY_DOMAIN.get(domain, ()):
            if item.match(path_and_query):
                return kind
        domain = domain.partition(".")[2]
    return None
