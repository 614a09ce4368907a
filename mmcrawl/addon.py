"""mmcrawl in another Scrapy project: `ADDONS = {"mmcrawl.Addon": 300}` is all the set-up."""

from typing import Any

_SPIDERS = "mmcrawl.spiders"


class Addon:
    """Brings the spiders `focused`, `revisit` and `collect`; those of the project stay as they are.

    Our spiders bring their scheduler, middlewares and pipelines along (`update_settings`), and what
    `mmcrawl.settings` says where the project's settings say nothing. The commands are entry points,
    since Scrapy looks for commands before it looks for addons.
    """

    @classmethod
    def update_pre_crawler_settings(cls, settings: Any) -> None:
        """Let our spiders be found beside those of the project; `settings` are Scrapy's."""
        modules = settings.getlist("SPIDER_MODULES")
        if _SPIDERS not in modules:
            priority = settings.getpriority("SPIDER_MODULES") or 0
            settings.set("SPIDER_MODULES", [*modules, _SPIDERS], priority)
