"""Which licence a page is believed to have, and for what reason."""

from mmcrawl.works import Licence, best_first, licence_of_url, licences_in_text
from tests.tables import each
from tests.works.pages_of_works import facts

TEXT = "<p>" + "Levers move the world, as the old books of physics say of them. " * 8 + "</p>"


def page_licences(html: str) -> tuple[Licence, ...]:
    return best_first(facts(html).licences)


@each(
    "url, code",
    [
        ("https://creativecommons.org/licenses/by-nc-sa/4.0/deed.zh", "CC-BY-NC-SA-4.0"),
        ("http://creativecommons.org/licenses/by/3.0/tw/", "CC-BY-3.0-TW"),
        ("//i.creativecommons.org/l/by-sa/4.0/88x31.png", "CC-BY-SA-4.0"),
        ("https://licensebuttons.net/p/zero/1.0/88x31.png", "CC0-1.0"),
        ("https://creativecommons.org/publicdomain/mark/1.0/", "PDM-1.0"),
        ("https://creativecommons.org/", "CC"),
        ("https://www.gnu.org/licenses/fdl-1.3.html", "GFDL"),
        ("http://school.test/licenses/by/4.0/", ""),
        ("https://notcreativecommons.organic/", ""),
    ],
)
def test_addresses_of_licences_and_badges_name_them(url: str, code: str) -> None:
    named = licence_of_url(url)
    assert (named.code if named else "") == code


@each(
    "text, code",
    [
        ("采用知识共享署名-非商业性使用-相同方式共享 4.0 国际许可协议", "CC-BY-NC-SA-4.0"),
        ("本著作係採用創用 CC 姓名標示-禁止改作 3.0 台灣授權條款授權", "CC-BY-ND-3.0"),
        ("licensed under a Creative Commons Attribution-ShareAlike 3.0 License", "CC-BY-SA-3.0"),
        ("Text is available under CC BY-NC-ND 2.5", "CC-BY-NC-ND-2.5"),
        ("This work is CC0", "CC0-1.0"),
        ("Licensed under Creative Commons", "CC"),
        ("© 2012 某某学校 版权所有", "all-rights-reserved"),
        ("Copyright 2019 ACME. All Rights Reserved.", "all-rights-reserved"),
        ("This film is in the public domain.", "PDM-1.0"),
        *((text, "") for text in ("a driver's license", "署名（记者黄博郎报道）", "which licence")),
    ],
)
def test_texts_in_chinese_and_english_name_licences(text: str, code: str) -> None:
    assert [named.code for named in licences_in_text(text)] == ([code] if code else [])


def test_a_declared_licence_is_told_with_what_says_it_and_where() -> None:
    html = f"""<h1>Levers</h1>{TEXT}<footer><p>Our work is under
        <a rel="license" href="https://creativecommons.org/licenses/by/4.0/">this</a></footer>"""
    (licence,) = page_licences(html)
    assert licence.code == "CC-BY-4.0"
    evidence = licence.evidence
    assert (evidence.source, evidence.scope) == ("rel-license", "page")
    assert evidence.said == "https://creativecommons.org/licenses/by/4.0/"


def test_structured_data_declare_the_licence_of_a_page() -> None:
    html = """<script type="application/ld+json">{"@type": "Course",
        "license": "http://creativecommons.org/licenses/by-nc-sa/4.0/"}</script>"""
    (licence,) = page_licences(html + TEXT)
    assert (licence.code, licence.evidence.source) == ("CC-BY-NC-SA-4.0", "json-ld")


def test_a_credit_of_a_photograph_is_not_the_licence_of_the_page() -> None:
    html = f"""<h1>Levers</h1>{TEXT}<figure><img src="a.jpg"><figcaption>Photo: Ann via Flickr
        (<a href="https://creativecommons.org/licenses/by/2.0/">CC BY 2.0</a>)</figure>{TEXT}"""
    assert page_licences(html) == ()


def test_a_page_about_licences_has_none_of_them() -> None:
    codes = ("BY", "BY-SA", "BY-NC", "BY-ND", "BY-NC-SA")
    rows = "".join(f"<li>Creative Commons CC {code} 4.0 licence</li>" for code in codes)
    assert page_licences(f"<h1>Which licence?</h1>{TEXT}<ul>{rows}</ul>{TEXT}") == ()


def test_what_is_said_beside_a_medium_wins_over_the_page() -> None:
    html = f"""<h1>Films</h1>{TEXT}
        <figure><video src="one.mp4"></video><figcaption>One, licensed under
        <a rel="license" href="https://creativecommons.org/licenses/by-sa/4.0/">CC BY-SA</a>
        </figcaption></figure>{TEXT}
        <figure><video src="two.mp4"></video><figcaption>Two</figcaption></figure>{TEXT}
        <footer>© 2020 School. All rights reserved.</footer>"""
    one, two = facts(html).occurrences
    assert [licence.code for licence in best_first(one.licences)] == ["CC-BY-SA-4.0"]
    assert one.licences[0].evidence.scope == "medium"
    assert two.licences == ()
