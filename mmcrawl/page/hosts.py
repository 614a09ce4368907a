"""What an address on a host of films, sounds, simulations or documents names: an item, or no item.

Items are told from the channels, searches and home pages there by their paths. Programs that anyone
may run on a host of their own (H5P, PeerTube, Panopto) are told by their paths alone.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from mmcrawl.text.media_kinds import AUDIO, DOCUMENT, SIMULATION, VIDEO

# domain, then the path and query of its items. A domain stands for its subdomains too; patterns
# are anchored at the start of the path and read no further than the item's name.
_VIDEO_HOSTS = r"""
youtube.com            /(?:watch/?\?(?:[^#]*&)?v=|(?:embed|v|shorts|live|e)/)[\w-]{5,}
youtube.com            /embed/?\?(?:[^#]*&)?list=[\w-]{5,}
youtube-nocookie.com   /(?:embed|v)/[\w-]{5,}
youtu.be               /[\w-]{5,}
vimeo.com              /(?:(?:channels|groups|album|showcase)/[\w-]+/(?:videos?/)?)?\d+
vimeo.com              /moogaloop\.swf\?(?:[^#]*&)?clip_id=\d+
player.vimeo.com       /video/\d+
archive.org            /embed/[^/?#]+
dailymotion.com        /(?:embed/)?(?:video|swf)/[\w-]+
dailymotion.com        /player[\w./-]*\?(?:[^#]*&)?video=\w+
dai.ly                 /\w+
ted.com                /talks/(?:lang/[\w-]+/)?(?!browse\b|search\b)\w[\w-]+
facebook.com           /plugins/video\.php\?(?:[^#]*&)?href=
khanacademy.org        /embed_video\?(?:[^#]*&)?v=[\w-]+
wistia.net             /embed/(?:iframe|medias)/\w+
wistia.com             /(?:embed/iframe|(?:embed/)?medias)/\w+
rutube.ru              /(?:video|play/embed)/\w{6,}
vk.com                 /video_ext\.php\?
nicovideo.jp           /watch/\w+
players.brightcove.net /\d+/[\w-]+/index\.html\?(?:[^#]*&)?(?:video|playlist)Id=
content.jwplatform.com /(?:players|videos|manifests)/\w{8}
cdn.jwplayer.com       /(?:players|videos|manifests)/\w{8}
loom.com               /(?:share|embed)/[\da-f]{20,}
streamable.com         /(?:[eso]/)?(?!login\b|signup\b)\w{4,8}$
play.vidyard.com       /[\w-]{16,}
sproutvideo.com        /embed/\w+/\w+
twitch.tv              /videos/\d+
player.twitch.tv       /\?(?:[^#]*&)?(?:video|channel)=\w+
rumble.com             /embed/\w+
odysee.com             /\$/embed/
coub.com               /(?:view|embed)/\w+
viddler.com            /(?:embed|player|v)/\w+
cloudflarestream.com   /\w{32}(?:/|$)
videodelivery.net      /\w{32}(?:/|$)
mediadelivery.net      /(?:embed|play)/\d+/[\w-]+
drive.google.com       /file/d/[\w-]{10,}/preview
microsoftstream.com    /(?:embed/)?video/[\w-]+
wevideo.com            /(?:view|embed)/\d+
edpuzzle.com           /(?:embed/)?media/\w+
screencast-o-matic.com /(?:watch|embed)\b
youku.com              /(?:v_show/id_|embed/|player\.php/(?:\w+/\w+/)*sid/)[\w=]+
youku.com              /video(?:/id_|\?(?:[^#]*&)?vid=)[\w=]+
tudou.com              /(?:programs/view|v|listplay|albumplay|l|a)/[\w-]+
tudou.com              /v/[\w=]+\.html
bilibili.com           /(?:s/)?video/(?:av\d+|BV\w+)
bilibili.com           /bangumi/play/(?:ss|ep)\d+
bilibili.com           /cheese/play/(?:ss|ep)\d+
bilibili.com           /(?:blackboard/)?[\w-]*player\.html\?(?:[^#]*&)?(?:aid|bvid|cid)=\w+
b23.tv                 /(?:av\d+|BV\w+)
v.qq.com               /x/(?:page|cover)/[\w/]+\.html
v.qq.com               /(?:txp/)?iframe/(?:player|preview)\.html\?(?:[^#]*&)?vid=\w+
video.qq.com           /\w+\.swf\?(?:[^#]*&)?vid=\w+
ke.qq.com              /course/\d+
iqiyi.com              /(?:v|w)_\w+\.html
open.iqiyi.com         /developer/player_js/[\w/]*\.html\?(?:[^#]*&)?vid=\w+
player.video.qiyi.com  /\w{32}
56.com                 /(?:u\d+/v_|iframe/|v_)\w+
ku6.com                /(?:show|refer|video)/[\w.-]{8,}
ku6.com                /video/detail\?(?:[^#]*&)?id=
tv.sohu.com            /(?:v/|\d{8}/n\d+|us/\d+/\d+)[\w=]*
tv.sohu.com            /s/sohuplayer/iplay\.html\?(?:[^#]*&)?(?:bid|vid)=\d+
share.vrs.sohu.com     /(?:my/)?(?:v\.swf|\d+/v\.swf)
acfun.cn               /v/ac\d+
acfun.cn               /player/ac\d+
acfun.cn               /bangumi/aa\d+
mgtv.com               /[bv]/(?:[^/?#]+/)*\d+\.html
le.com                 /ptv/vplay/\d+\.html
letv.com               /ptv/vplay/\d+\.html
pptv.com               /show/\w{8,}\.html
player.pptv.com        /(?:v|iframe)/
cctv.com               /(?:[\w-]+/)*VIDE\w{10,}\.shtml
cctv.com               /video/\w+/\w{32}
cctv.cn                /(?:[\w-]+/)*VIDE\w{10,}\.shtml
cntv.cn                /(?:[\w-]+/)*VIDE\w{10,}\.shtml
cntv.cn                /video/\w+/\w{32}
yangshipin.cn          /video/home\?(?:[^#]*&)?vid=\w+
ixigua.com             /(?:video/|i|iframe/|embed\?(?:[^#]*&)?group_id=)?\d{16,}
douyin.com             /(?:share/)?video/\d{15,}
open.douyin.com        /player/video\?(?:[^#]*&)?vid=\d+
iesdouyin.com          /share/video/\d+
kuaishou.com           /short-video/\w+
haokan.baidu.com       /v\?(?:[^#]*&)?vid=\d+
weibo.com              /tv/(?:show|v)/[\w:]+
video.weibo.com        /(?:show|player)\b[^#]*fid=
zhihu.com              /zvideo/\d+
video.zhihu.com        /video/\d+
v.ifeng.com            /(?:c/\w{6,}|(?:[\w-]+/)*(?:\d{6}/)?[\w-]{20,}\.shtml|video_\d+\.shtml)
video.sina.com.cn      /(?:p|v/b|view|m)/[\w/.-]+
you.video.sina.com.cn  /(?:b|v/b)/\d+
wasu.cn                /(?:Play|wap/Play)/show/id/\d+
fun.tv                 /vplay/
funshion.com           /(?:subject/play|vplay)/
miguvideo.com          /(?:mgs/website/prd/)?detail\.html\?(?:[^#]*&)?cid=\d+
1905.com               /play/\d+
yinyuetai.com          /video/(?:h5/)?\d+
huya.com               /play/\d+\.html
open.163.com           /(?:movie/\d+/\d+/\d+/\w+\.html|newview/movie/\w+\?)
v.163.com              /(?:static/\d+/|video/\d+/\d/\w/)V?\w+\.html
icourse163.org         /(?:learn|course|spoc/course|spoc/learn)/[A-Za-z][\w-]*-\d+
icourses.cn            /(?:sCourse/course_|web/sword/portal/videoDetail|viewVCourse)
study.163.com          /course/(?:introduction/|courseMain\.htm\?(?:[^#]*&)?courseId=)\d+
xuetangx.com           /(?:learn|course|courses|live|lms)/[\w:%.+-]+
mooc1.chaoxing.com     /(?:ananas/modules/video/|mycourse/studentstudy\?)
mooc.chaoxing.com      /course/\d+\.html
video.chaoxing.com     /(?:play|serie)_\d+_\w+\.shtml
zhihuishu.com          /(?:videoList|portals_h5|course)/?[\w/.-]*\?[^#]*(?:AndC|c)ourseId=
smartedu.cn            /(?:syncClassroom/classActivity|qualityCourse|elecEdu/\w+)\?
smartedu.cn            /(?:schoolService|specialEdu/\w+)/detail\?
smartedu.cn            /(?:syncClassroom/prepare/detail|dispatch/\w+|yearQualityCourse)\b
eduyun.cn              /(?:redesign/lesson/toBeDetail|resource/\w+/video|lesson/detail)
livestream.com         /accounts/\d+/events/\d+/(?:videos/\d+|player)
open.edu               /openlearn/.*/(?:video|audio)-
"""
_AUDIO_HOSTS = r"""
soundcloud.com         /player(?:\.swf|/)?\?(?:[^#]*&)?url=
soundcloud.com         /(?!(?:discover|search|charts|pages|you|stream|tags|player)\b)[\w-]+/
                       (?!(?:tracks|albums|sets|reposts|likes|following|followers|comments
                       |popular-tracks)/?(?:$|[?#]))[\w-]+
spotify.com            /(?:embed(?:-podcast)?/)?(?:track|episode)/\w+
spotify.com            /embed(?:-podcast)?/(?:album|playlist|show)/\w+
podcasters.spotify.com /pod/show/[\w-]+/embed/episodes/
anchor.fm              /[\w-]+/(?:embed/)?episodes/[\w-]+
music.163.com          /outchain/player\?(?:[^#]*&)?id=\d+
music.163.com          /(?:#/)?(?:song|program|dj)\?(?:[^#]*&)?id=\d+
y.qq.com               /n/(?:ryqq/songDetail|yqq/song)/\w+
i.y.qq.com             /(?:v8/playsong|n2/m/outchain/player/index)\.html\?
kugou.com              /(?:mixsong|song)/\w+
kuwo.cn                /play_detail/\d+
ximalaya.com           /(?:(?:[\w-]+/)?\d+/)?sound/\d+
ximalaya.com           /thirdparty/player/sound/player\.html\?
lizhi.fm               /\d+/\d{10,}
qingting.fm            /channels/\d+/programs/\d+
xiaoyuzhoufm.com       /episode/\w+
mixcloud.com           /widget/iframe/?\?(?:[^#]*&)?feed=
podbean.com            /(?:player-v2|media/player|e)/
libsyn.com             /embed/episode/id/\d+
play.libsyn.com        /embed/
simplecast.com         /[\da-f]{8}(?:-[\da-f-]+)?
embed.podcasts.apple.com /
podcasts.apple.com     /(?:\w\w/)?podcast/[^?#]*\?(?:[^#]*&)?i=\d+
buzzsprout.com         /\d+/(?:episodes/)?\d+
share.transistor.fm    /(?:e|s)/\w+
spreaker.com           /(?:episode/[\w-]+|player\?|embed/player)
widget.spreaker.com    /player\?
bandcamp.com           /EmbeddedPlayer/
bandcamp.com           /track/[\w-]+
megaphone.fm           /(?:e/)?[A-Z]{2,}\d+
art19.com              /shows/[^/?#]+/episodes/
acast.com              /[^/?#]+/episodes/[^/?#]+
embed.acast.com        /[^/?#]+/[^/?#]+
omny.fm                /shows/[^/?#]+/[^/?#]+
ausha.co               /(?:index\.html\?|embed)
player.fireside.fm     /v\d/
captivate.fm           /episode/
castbox.fm             /(?:app/castbox/player|episode)/
audioboom.com          /(?:posts|boos)/\d+
freesound.org          /(?:embed/sound|people/[^/]+/sounds)/
"""
_SIMULATION_HOSTS = r"""
phet.colorado.edu      /(?:sims/|files/|simulations/sims\.php|[\w-]+/simulations?/
                       (?!(?:category|filter|browse|prototypes|index|translated)\b)[\w-]+)
geogebra.org           /(?:m|material/(?:iframe|show|simple)/id|classic|calculator|graphing|geometry
                       |3d|cas|suite|solver|notes)/[A-Za-z0-9]{3,}
tube.geogebra.org      /(?:student/|material/(?:iframe|show)/id/)?m?\d+
desmos.com             /(?:calculator|geometry|3d|geometry-beta)/\w{6,}
teacher.desmos.com     /activitybuilder/custom/\w+
h5p.org                /h5p/embed/\d+
h5p.com                /content/\d+
walter-fendt.de        /(?:html5|ph\d+|m\d+)/[\w/-]+\.html?
falstad.com            /(?!about\b)[\w-]+/(?:[\w-]+\.html)?(?:\?|$)
myphysicslab.com       /(?:[\w-]+/)+[\w-]+-en\.html
ophysics.com           /\w+\.html
javalab.org            /(?:[\w-]+/)?(?!tag\b|category\b|about\b)[\w%-]+/$
concord.org            /(?:embeddable\.html|interactives?/|resources/\d+)
codap.concord.org      /
molview.org            /\?
sketchfab.com          /(?:models/\w{32}|3d-models/[\w-]+-\w{32})
scratch.mit.edu        /projects/(?:embed/)?\d+
demonstrations.wolfram.com /(?!topics?\b|search\b|about\b)[A-Z]\w+
netlogoweb.org         /(?:launch|web)\b
openprocessing.org     /sketch/\d+
editor.p5js.org        /[\w-]+/(?:full|embed|present)/[\w-]+
trinket.io             /embed/(?:glowscript|python3d)/\w+
tinkercad.com          /(?:embed|things)/\w+
gizmos.explorelearning.com /
explorelearning.com    /index\.cfm\?(?:[^#]*&)?method=cResource\.dspDetail
nobook.com             /(?:\w+/)*\?(?:[^#]*&)?(?:sourceid|id)=
nobook.cn              /(?:\w+/)*\?(?:[^#]*&)?(?:sourceid|id)=
netpad.net.cn          /(?:svg\.html|resource_web/course/)
iwant2study.org        /lookangejss/.+\.x?html
compadre.org           /osp/(?:EJSS|pwa)/
learner.org            /interactives?/
learningapps.org       /(?:watch\?(?:[^#]*&)?v=|view|display\?v=)\w+
wordwall.net           /(?:embed/)?(?:resource|play)/\w+
labxchange.org         /library/items/lb:
chemcollective.org     /(?:vlab|activities)/\w+
mathigon.org           /(?:polypad|embed)\b
cospaces.io            /(?:edu/)?\w{3}-\w{3}
"""
_DOCUMENT_HOSTS = r"""
docs.google.com        /(?:presentation|document)/d/(?:e/)?[\w-]{10,}
slideshare.net         /slideshow/embed_code/
slideshare.net         /(?:slideshow/)?(?!search\b|category\b|login\b)[\w-]+/[\w-]{12,}
speakerdeck.com        /player/\w+
prezi.com              /(?:embed|view|p|v)/[\w-]{6,}
scribd.com             /(?:embeds|document|doc|presentation)/\d+
issuu.com              /[\w.-]+/docs/[\w-]+
canva.com              /design/\w+/[\w-]+/(?:view|watch)
onedrive.live.com      /embed\?
wenku.baidu.com        /view/\w{10,}
docin.com              /p-\d+\.html
doc88.com              /p-\d+\.html
zxxk.com               /soft/\d+\.html
21cnjy.com             /H/\d+/(?:[\w-]+/)*\d+\.s?html
xkw.com                /soft/\d+\.html
51jiaoxi.com           /doc-\d+\.html
1ppt.com               /(?:kejian|article)/\d+\.html
smartedu.cn            /tchMaterial/detail\?
"""
# Programs that stand on many hosts.
_ANYWHERE = (
    (VIDEO, r"/Panopto/Pages/(?:Embed|Viewer)\.aspx\?(?:[^#]*&)?p?id=[\da-f-]{30,}"),
    (VIDEO, r"/(?:videos/(?:embed|watch)|w)/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f-]{17}"),
    (VIDEO, r"/(?:p/\d+/|index\.php/extwidget/|html5/html5lib/).*entry_?id[=/]"),
    (VIDEO, r"/Mediasite/(?:Play|Showcase/[\w/]+/Presentation)/\w{20,}"),
    (VIDEO, r"/(?:paella\d?/ui/watch|play)(?:\.html)?\?(?:[^#]*&)?id=[\da-f-]{30,}"),
    (VIDEO, r"/engage/theodul/ui/core\.html\?(?:[^#]*&)?id=[\da-f-]{30,}"),
    (SIMULATION, r"/wp-admin/admin-ajax\.php\?(?:[^#]*&)?action=h5p_embed\b"),
    (SIMULATION, r"/(?:mod/hvp/embed|h5p/embed)\.php\?"),
    (SIMULATION, r"/h5p/(?:embed/\d+|\d+/embed)"),
    (SIMULATION, r"/sims/html/[\w-]+/[\w./-]+\.html"),
    (SIMULATION, r"/(?:[^/?#]+/)*[\w%.-]+_Simulation\.x?html"),
)  # fmt: skip
# On players' own hosts; only a frame or a script that plays them leads there.
_PLAYER_HOSTS = r"""
p.bokecc.com           /(?:player|flash/player\.swf|playhtml\.bo)\?(?:[^#]*&)?(?:vid|videoid)=\w+
player.polyv.net       /(?:videos/)?[\w./]*(?:\?(?:[^#]*&)?vid=)?\w{32}_\w
play.videocc.net       /
player.bokecc.com      /
"""
_TABLES = (
    (VIDEO, _VIDEO_HOSTS + _PLAYER_HOSTS),
    (AUDIO, _AUDIO_HOSTS),
    (SIMULATION, _SIMULATION_HOSTS),
    (DOCUMENT, _DOCUMENT_HOSTS),
)
_MAY_BE_ANYWHERE = re.compile(
    r"panopto|/videos/|/w/|kaltura|embedIframeJs|entry_?id|mediasite|paella|theodul|/play\?|h5p|hvp"
    r"|/sims/|_simulation\.",
    re.IGNORECASE,
)


# In a frame, what an address on a host that no table has says of itself: it plays …
_PLAYS = re.compile(
    r"video|(?<![a-z])vods?(?![a-z])|player(?!s?[/.]?(?:id|stats))|podcast|(?<![a-z])audio|radio"
    r"|(?<![a-z])(?:media|tv|film|movie|clip|episode|stream)s?(?![a-z])",
    re.IGNORECASE,
)
# … it is made to stand in other pages …
_STANDS_IN_PAGES = re.compile(r"embed|iframe|player|external", re.IGNORECASE)
# … it names something …
_NAMES_AN_ITEM = re.compile(
    r"[/=_.:-](?=[\w-]{0,99}\d)[\w-]{5}|[/=][\da-zA-Z-]{8,}(?:[/?&]|$)|=\d+"
)
# … and it is nothing else that pages have in frames.
_NO_PLAYER = re.compile(
    r"(?<![a-z])(?:ads?|adserver|adsystem|maps?|captcha|chat|comments?|calendar|forms?|survey|poll"
    r"|login|likes?|share|follow|tweets?|timeline|post|weather|widgets?/(?:map|weather|chat)|social"
    r"|stats?|analytics|consent|cookie|signup|newsletter|subscribe|banners?|pixel|sync|quiz|donate"
    r"|checkout|pay)(?![a-z])|doubleclick|googlesyndication|advert|disqus|recaptcha|livechat",
    re.IGNORECASE,
)
_LONGEST_EMBED = 2_000
_SOUNDS = re.compile(r"podcast|audio|radio|music|sound", re.IGNORECASE)

_CONTINUED = re.compile(r"\n[ ]+")  # a pattern that goes on in the next line


@cache
def _domains() -> Mapping[str, list[tuple[str, str]]]:
    """Return what stands in the tables of each domain: a pattern, and the kind of its items."""
    found: dict[str, list[tuple[str, str]]] = {}
    for kind, table in _TABLES:
        for line in _CONTINUED.sub("", table).splitlines():
            if line:
                domain, path = line.split(maxsplit=1)
                found.setdefault(domain, []).append((path, kind))
    embeds = files(__package__).joinpath("embeds.tsv")  # also in an egg that stays packed
    for line in embeds.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            kind, domain, path = line.split("\t")
            found.setdefault(domain, []).append((path, kind))
    return found


@cache
def _items_of(domain: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(path, re.IGNORECASE), kind) for path, kind in _domains()[domain])


@cache
def _items_anywhere() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(path, re.IGNORECASE), kind) for kind, path in _ANYWHERE)


def hosted_kind(host: str, path_and_query: str) -> str | None:
    """Return the kind of the item that an address names, or None.

    Args:
        host: In lower case, without port.
        path_and_query: From the first slash on.

    >>> hosted_kind("www.youtube.com", "/watch?v=dQw4w9WgXcQ")
    'video'
    >>> hosted_kind("www.youtube.com", "/user/mit") is None
    True
    >>> hosted_kind("h.test", "/h5p/embed/612")
    'simulation'
    """
    domain, known = host, _domains()
    while "." in domain:
        for item, kind in _items_of(domain) if domain in known else ():
            if item.match(path_and_query):
                return kind
        domain = domain.partition(".")[2]
    if _MAY_BE_ANYWHERE.search(path_and_query):
        found = (kind for item, kind in _items_anywhere() if item.match(path_and_query))
        return next(found, None)
    return None


def embedded_kind(host: str, path_and_query: str) -> str | None:
    """Return the kind of what a frame from another host plays, as its address says, or None.

    Args:
        host: In lower case, without port; in no table.
        path_and_query: From the first slash on.

    >>> embedded_kind("tube.school.test", "/embed/video/4f2a91")
    'video'
    >>> embedded_kind("maps.school.test", "/embed?pb=12345678") is None
    True
    """
    address = (host + path_and_query)[:_LONGEST_EMBED]
    if not (_STANDS_IN_PAGES.search(address) and _PLAYS.search(address)):
        return None
    if _NO_PLAYER.search(address) or not _NAMES_AN_ITEM.search(path_and_query[:_LONGEST_EMBED]):
        return None
    return AUDIO if _SOUNDS.search(address) else VIDEO
