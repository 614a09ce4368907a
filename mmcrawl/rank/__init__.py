"""Which pages, blocks and media of an archive matter: ranks by links.

:class:`Reading` reads an archive as records of pages, blocks and links; :class:`GraphBuilder` makes
sparse matrices of them; the functions of :mod:`mmcrawl.rank.ranks` rank these by PageRank,
Topic-PageRank, HITS, block-level PageRank and QuarkRank. Results are stored beside the archive;
:func:`open_ranks` returns them by URL.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.rank.duplicates import (
        LEAST_TOKENS,
        bands,
        digest,
        find_duplicates,
        groups_of,
        sketch,
    )
    from mmcrawl.rank.graph import (
        KIND_WEIGHTS,
        ArchiveGraph,
        GraphBuilder,
        block_importance,
        blocks_to_pages,
        page_links,
        pages_to_blocks,
    )
    from mmcrawl.rank.page_class import (
        FEATURES,
        PAGE_CLASSES,
        PageClassModel,
        classes_of,
        page_class,
        page_class_model,
        page_features,
    )
    from mmcrawl.rank.pages import PARTS, Ranked, RankJob, rank_blocks, rank_media, rank_pages
    from mmcrawl.rank.parquet import COLUMNS, write_export
    from mmcrawl.rank.ranks import (
        METHODS,
        Ranking,
        block_pagerank,
        block_ranks,
        converge,
        hits,
        method_named,
        pagerank,
        quarkrank,
        random_surfer,
        topic_pagerank,
    )
    from mmcrawl.rank.reading import Reading
    from mmcrawl.rank.records import (
        BlockRecord,
        LinkRecord,
        MediaRecord,
        PageRecord,
        ReadPage,
        TopicContent,
    )
    from mmcrawl.rank.results import (
        RankedPages,
        Ranks,
        open_duplicates,
        open_ranks,
        open_results,
        save_duplicates,
        save_ranks,
    )
