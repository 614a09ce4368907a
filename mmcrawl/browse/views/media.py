"""A medium that a page shows or links to, with a player on demand."""

import re
from urllib.parse import urlsplit

from starlette.responses import Response

from mmcrawl.browse.arguments import Arguments, Problem
from mmcrawl.browse.context import Context
from mmcrawl.browse.rendering import page, player_policy
from mmcrawl.browse.text import live_address
from mmcrawl.page.model import MediaResource
from mmcrawl.page.parse import parse_page

_FLASH = (".swf", ".spl")
_HOST = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)*\.?")


def media_item(context: Context, arguments: Arguments) -> Response:
    """Show one of the media of a version; its player only if that is asked for."""
    url, archive = arguments.url(), context.archive
    version = context.version(arguments, context.visits(url))
    found = parse_page(archive.rebuild(version).body, version.url, version.content_type).media
    wanted = arguments.url("m")
    resource = next((one for one in found if one.url == wanted), None)
    if resource is None:
        raise Problem(404, "medium", url=url, media=wanted)
    address = live_address(resource.url)
    player = _player(resource, context.options.ruffle is not None) if address else ""
    play = bool(arguments.choice("play", ("1",))) and bool(player)
    policy = player_policy(arguments, player, _origin(address))
    return page(
        arguments,
        "media_item",
        headers={"Content-Security-Policy": policy} if play else None,
        resource=resource,
        version=version,
        address=address,
        player=player,
        play=play,
        needs_ruffle=resource.kind == "animation" and not player and _is_flash(resource),
        archived=bool(archive.visits(resource.url)),
    )


def _is_flash(resource: MediaResource) -> bool:
    try:
        return urlsplit(resource.url).path.lower().endswith(_FLASH)
    except ValueError:
        return False


def _player(resource: MediaResource, has_ruffle: bool) -> str:
    """Return what plays a resource: ``audio``, ``video``, ``ruffle``, or "" for nothing."""
    if not _origin(resource.url):
        return ""
    if resource.kind in ("audio", "video") and resource.tag != "iframe":
        return resource.kind
    return "ruffle" if has_ruffle and _is_flash(resource) else ""


def _origin(url: str) -> str:
    """Return the origin of an address as a policy names it; "" if it cannot be named there."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
        host = (parts.hostname or "").encode("idna").decode()
    except ValueError:
        return ""
    named = parts.scheme in ("http", "https") and _HOST.fullmatch(host)
    return f"{parts.scheme}://{host}{port}" if named else ""
