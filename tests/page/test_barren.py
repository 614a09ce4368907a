"""What a page consists of that has neither links nor media."""

from mmcrawl.page import parse_page
from mmcrawl.page.lists import contents_of
from tests.tables import each

WORDS = "words " * 60


@each(
    "body, told",
    [
        (" ", "an empty page"),
        ("<form><input name=p type=password></form><script>1</script>", "a login form"),
        ("<script src=a.js></script>", "a script only; try -a render=playwright"),
        ("<p>Wait<script>1</script>", "a script and little text; try -a render=playwright"),
        (f"<p>{WORDS}<script>1</script>", "text without a link"),
        ("<form action=s.php><input name=q></form>", "a form"),
        ("<iframe></iframe>", "frames without an address"),
        ("<img src=a.png>", "pictures without a link"),
        ("<div></div>", "a page without text or links"),
    ],
)
def test_a_page_that_leads_nowhere_is_told_in_a_few_words(body: str, told: str) -> None:
    assert contents_of(parse_page(body.encode(), "http://h.test/"), body.encode()) == told
