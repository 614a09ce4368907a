"""Opens a crawl, from arguments and settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from mmcrawl import __version__
from mmcrawl.archive.revisits import RevisitRules
from mmcrawl.blocks.metadata_rules import MetadataRules
from mmcrawl.blocks.partitioners.registry import make_partitioner
from mmcrawl.crawl.job import CrawlJob
from mmcrawl.crawl.params import FocusedParams
from mmcrawl.crawl.protocol import Crawl
from mmcrawl.crawl.setup import CrawlSetup
from mmcrawl.errors import MmcrawlError, SeedError, StoreError
from mmcrawl.frontier.admission import Limits
from mmcrawl.frontier.database import remove_own_file
from mmcrawl.frontier.ranking import ALL
from mmcrawl.frontier.store import open_store
from mmcrawl.replay.web import StoredWeb
from mmcrawl.settings import SettingsLike, check_names, declared, value_of
from mmcrawl.store.uris import archive_beside, archive_uri, file_of, is_server, shown

_ARCHIVE = "MMCRAWL_ARCHIVE"
_REVISIT_KINDS = "MMCRAWL_REVISIT_KINDS"
_ALL_KINDS = "all"
_HOUR = 3_600.0

if TYPE_CHECKING:  # the driver of MongoDB is slow to load, and few crawls need it
    from mmcrawl.cluster.store import SharedStore


def archive_uri_of(argument: str, store: str, settings: SettingsLike) -> str | None:
    """Return where a crawl archives its pages; None for nowhere.

    Args:
        argument: the spider's argument `archive`; "" takes MMCRAWL_ARCHIVE, and if that is not set
            either, the place beside the store.
        store: URI of the crawl's store.
        settings: see `mmcrawl.settings`.

    Raises:
        MmcrawlError: the argument or the setting is not understood.
    """
    try:
        return archive_uri(argument or value_of(settings, _ARCHIVE), store)
    except ValueError as error:
        raise MmcrawlError(
            f"{_ARCHIVE}: {error}; it may be sqlite:///FILE, mongodb://HOST/DATABASE or none"
        ) from error


def _revisit_rules(settings: SettingsLike) -> RevisitRules:
    """Return the bounds of the time between two visits, and what counts as a change.

    Raises:
        MmcrawlError: a setting is no number, names no kind of blocks, or contradicts another.
    """
    names = ("DEFAULT", "SHORTEST", "LONGEST")
    hours = {name: value_of(settings, f"MMCRAWL_REVISIT_{name}") for name in names}
    if hours["SHORTEST"] > hours["LONGEST"]:
        raise MmcrawlError("MMCRAWL_REVISIT_SHORTEST is more than MMCRAWL_REVISIT_LONGEST")
    return RevisitRules(
        default=hours["DEFAULT"] * _HOUR,
        shortest=hours["SHORTEST"] * _HOUR,
        longest=hours["LONGEST"] * _HOUR,
        kinds=_revisit_kinds(value_of(settings, _REVISIT_KINDS)),
    )


def _revisit_kinds(given: str | Sequence[str]) -> frozenset[str] | None:
    names = given.split(",") if isinstance(given, str) else given
    kinds = frozenset(name.strip() for name in names)
    if kinds == {_ALL_KINDS}:
        return None
    from mmcrawl.archive.comparing.change_kinds import CHANGE_KINDS  # slow to load

    if not kinds <= {*CHANGE_KINDS}:
        known = ", ".join(CHANGE_KINDS)
        why = f"name kinds of blocks of {known}, or {_ALL_KINDS} alone"
        raise MmcrawlError(f"{_REVISIT_KINDS} {given}: {why}")
    return kinds


def _blocks_kept(settings: SettingsLike) -> tuple[str | None, bool]:
    """Return how archived pages are cut, None as their last versions were; and whether they are.

    Raises:
        BlockError: MMCRAWL_BLOCKS names no method.
    """
    method: str | None = value_of(settings, "MMCRAWL_BLOCKS")
    if method == "off":
        return None, False
    if method is not None:
        make_partitioner(method)
    return method, True


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """What settings say of a crawl, checked: read once, and handed to whatever makes its parts.

    Attributes:
        archives: where a crawl archives that does not say so itself; None for beside its store.
    """

    threshold: float  # of the topic test
    archives: str | None
    method: str | None  # how archived pages are cut into blocks; None as their last versions were
    cuts_blocks: bool  # whether they are cut
    revisits: RevisitRules  # the bounds of the time between two visits, and what counts as a change
    obey_nofollow: bool
    most_clicks: int  # how far from a seed, 0 for any distance
    delay: float  # seconds between two requests to a host
    lease: float  # seconds after which what a silent worker has goes to others
    limits: Limits  # which links may be followed, as far as settings say

    @classmethod
    def read(cls, settings: SettingsLike) -> Self:
        """Return the configuration in some settings.

        Raises:
            MmcrawlError: one of them is misspelt, of another type, or out of its range.
        """
        check_names(settings if isinstance(settings, Mapping) else ())
        ours = {name: setting.of(settings) for name, setting in declared.items()}
        archive_uri_of("", "memory:", settings)
        method, cuts_blocks = _blocks_kept(settings)
        MetadataRules.read(ours["MMCRAWL_METADATA"])
        delay = settings.getfloat("DOWNLOAD_DELAY")
        if settings.getbool("AUTOTHROTTLE_ENABLED"):
            delay = max(delay, settings.getfloat("AUTOTHROTTLE_START_DELAY"))
        limits = Limits(
            url_length=settings.getint("URLLENGTH_LIMIT", 2083),
            per_host=ours["MMCRAWL_PAGES_PER_HOST"],
            per_shape=ours["MMCRAWL_BARREN_PAGES_PER_SHAPE"],
            per_page=ours["MMCRAWL_LINKS_PER_PAGE"],
            private=ours["MMCRAWL_PRIVATE_NETWORKS"],
        )
        return cls(
            threshold=ours["MMCRAWL_TOPIC_THRESHOLD"],
            archives=ours["MMCRAWL_ARCHIVE"],
            method=method,
            cuts_blocks=cuts_blocks,
            revisits=_revisit_rules(settings),
            obey_nofollow=settings.getbool("ROBOTSTXT_OBEY"),
            most_clicks=settings.getint("DEPTH_LIMIT"),
            delay=delay,
            lease=ours["MMCRAWL_LEASE_SECONDS"],
            limits=limits,
        )

    def limits_of(self, args: FocusedParams, *, replayed: bool) -> Limits:
        """Return which links a crawl with these arguments may follow."""
        return replace(
            self.limits,
            sites=args.sites,
            max_layer=args.max_layer,
            # Scrapy counts a seed as 0.
            max_depth=args.max_depth or (self.most_clicks + 1 if self.most_clicks else 0),
            private=replayed or self.limits.private,
            least_score=args.least_score(self.threshold),
        )

    def archive_of(self, args: FocusedParams) -> str | None:
        """Return where a crawl with these arguments archives its pages; None for nowhere."""
        return archive_uri(args.archive or self.archives, args.store_uri)


def with_stored_web(arguments: Mapping[str, Any], settings: SettingsLike) -> dict[str, Any]:
    """Return spider arguments in which `web` is what MMCRAWL_WEB names, if it was not given."""
    stored = value_of(settings, "MMCRAWL_WEB")
    return {**arguments, "web": arguments.get("web") or str(stored)} if stored else {**arguments}


def make_job(args: FocusedParams, settings: SettingsLike, web: StoredWeb | None) -> Crawl:
    """Open the job that `args` describe, a new one or one to continue.

    Args:
        args: the checked spider arguments.
        settings: see `mmcrawl.settings` for the names with MMCRAWL_.
        web: the stored web that is crawled, None for the network.

    Raises:
        MmcrawlError: the store cannot be used, the job was begun with other arguments, its archive
            is gone, there are no seeds, or a setting is wrong.
    """
    config = Configuration.read(settings)
    setup = setup_of(args, config, web)
    if args.requisites == "yes" and config.archive_of(args) is None:
        raise MmcrawlError("requisites=yes keeps them in the archive, but there is none: name one")
    if args.workers or is_server(args.store_uri):
        return _shared_job(args, config, setup)
    store = open_store(args.store_uri, afresh=args.made_afresh)
    try:
        if args.made_afresh:
            _remove_archive(args, config)
        job = CrawlJob(store, store.job(args.job_name, args.identity()), setup)
        _miss_no_archive(job, config.archive_of(args))
    except BaseException:
        store.close()
        raise
    return job


def _miss_no_archive(job: CrawlJob, uri: str | None) -> None:
    """Refuse to continue with an archive file that has lost all pages the job put there."""
    if uri is None or not file_of(uri) or job.job.finished_at is not None:
        return
    name = shown(uri)
    archived = job.pages - job.store.archived_since(job.job.number, name, job.pages)
    if archived and _holds_nothing(uri):
        raise StoreError(
            f"archive {name} is missing or empty, but job {job.job.name!r} has put {archived:,}"
            " pages there; put it back from a copy, or give -a archive=FILE for another one with"
            " the pages from now on, or -a job=NAME to fetch all of them again"
        )


def _holds_nothing(uri: str) -> bool:
    path = Path(file_of(uri))
    if not path.is_file() or not path.stat().st_size:
        return True
    from mmcrawl.archive.opening import open_archive  # slow to load

    with open_archive(uri, read_only=True) as archive:
        return next(archive.urls(), None) is None


def _remove_archive(args: FocusedParams, config: Configuration) -> None:
    """Remove the archive beside the store, its index and ranks, if it is this crawl's."""
    beside = archive_beside(args.store_uri)
    if beside and config.archive_of(args) == beside:
        for ending in ("", "-search", "-rank"):
            remove_own_file(Path(file_of(beside) + ending))


def setup_of(args: FocusedParams, config: Configuration, web: StoredWeb | None) -> CrawlSetup:
    """Return the setup of a crawl, without its store; for the arguments see `make_job`."""
    if args.links != ALL and not config.cuts_blocks:
        raise MmcrawlError(
            f"links={args.links} goes by the blocks of pages, and MMCRAWL_BLOCKS is off"
        )
    seeds = [seed.url for seed in args.seed_list] or list(web.start_urls() if web else ())
    if not seeds:
        raise SeedError("no seeds: give -a seeds=FILE or URL")
    return CrawlSetup(
        algo=args.algo,
        parameters=args.parameters,
        topic=args.own_topic,
        topics_by_host=args.topics_by_host,
        kinds=args.kinds,
        threshold=config.threshold,
        limits=config.limits_of(args, replayed=web is not None),
        seeds=seeds,
        aliases=dict(web.aliases()) if web else {},
        obey_nofollow=config.obey_nofollow,
        links=args.links,
        rules=args.pinned_rules,
    )


def begin_shared(
    args: FocusedParams, settings: SettingsLike, web: StoredWeb | None
) -> "SharedStore":
    """Open the store of a crawl that several workers are to join; see `make_job`."""
    config = Configuration.read(settings)
    setup = setup_of(args, config, web)
    if args.made_afresh:
        remove_own_file(Path(file_of(args.store_uri)))
        _remove_archive(args, config)
    return _shared_store(args, config, setup)


def _shared_store(args: FocusedParams, config: Configuration, setup: CrawlSetup) -> "SharedStore":
    from mmcrawl.cluster.store import open_shared_store

    common = _in_common(args, config, setup)
    rules = setup.rules.plain()
    return open_shared_store(args.store_uri, job=args.job_name, arguments=common, rules=rules)


def _shared_job(args: FocusedParams, config: Configuration, setup: CrawlSetup) -> Crawl:
    """Join a crawl that several processes work on."""
    from mmcrawl.cluster.places import Rules
    from mmcrawl.cluster.worker import SharedJob, worker_name

    rules = Rules(lease=config.lease, rest=config.delay, max_pages=args.max_pages)
    shared = _shared_store(args, config, setup)
    return SharedJob(shared, setup, rules, name=worker_name())


def _in_common(args: FocusedParams, config: Configuration, setup: CrawlSetup) -> dict[str, Any]:
    """Return the settings that all workers of a shared crawl must share."""
    topic = args.whole_topic
    words = repr((topic.concepts, topic.subject_words, sorted(topic.media.items())))
    return args.identity() | {
        "mmcrawl": __version__,
        "topic_words": sha256(words.encode()).hexdigest()[:16],
        "lease_seconds": config.lease,
        "rules": setup.rules.digest,
        **setup.settings(),
    }
