"""Public suffixes, without the network."""

from mmcrawl.text import is_public_suffix, split_host
from tests.tables import each


@each("host", ["com", "co.uk", "com.cn", "github.io"])
def test_names_under_which_strangers_register_are_suffixes(host):
    assert is_public_suffix(host)
    assert not is_public_suffix(f"school.{host}")


def test_a_host_is_split_as_the_list_says():
    assert not is_public_suffix("localhost")
    parts = split_host("www.optics.co.uk")
    assert (parts.subdomain, parts.domain, parts.suffix) == ("www", "optics", "co.uk")
    assert split_host("a.b.school.com.cn").top_domain_under_public_suffix == "school.com.cn"
