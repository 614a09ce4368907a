"""What a stored web answers."""

from mmcrawl.replay import StoredResponse, StoredWeb


def fetch(web: StoredWeb, url: str, method: str = "GET") -> StoredResponse:
    """Return the answer of a host that is there."""
    response = web.get(url, method)
    assert response is not None, url
    return response
