"""What looks like a heading, and what its class says."""

from mmcrawl.blocks import read_tree
from mmcrawl.blocks.layout import Headlines, Measures
from tests.tables import each


@each(
    "name, is_heading",
    [
        ("title", True),
        ("post-title", True),
        ("articleTitle", True),
        ("TITLE_2", True),
        ("a headline", True),
        ("biaoti", True),
        ("titles", False),
        ("subheading", False),
        ("captions", False),
    ],
)
def test_classes_that_name_a_heading(name: str, is_heading: bool):
    tree = read_tree(f'<p class="{name}">Levers</p>'.encode())
    headlines = Headlines(tree, Measures(tree))
    assert headlines.level(range(1, len(tree))) == (7 if is_heading else 0)
