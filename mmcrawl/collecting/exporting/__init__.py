"""Works in the formats that libraries, schools and programs take; a module for each.

An exporter is found by its name (:func:`exporter_named`); another package adds one as an entry
point.
"""

from mmcrawl.collecting.exporting.exporter import Exporter, Shipment, exporter_named, exporter_names

__all__ = ["Exporter", "Shipment", "exporter_named", "exporter_names"]
