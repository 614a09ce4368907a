"""The designs of the demo's sites: three ways to mark up the same lesson."""
