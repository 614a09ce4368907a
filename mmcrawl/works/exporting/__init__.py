"""Works in the formats that libraries, schools and programs take; a module for each.

An exporter is found by its name (:func:`exporter_named`); another package adds one as an entry
point.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.works.exporting.exporter import (
        Exporter,
        Shipment,
        exporter_named,
        exporter_names,
        file_name,
    )
