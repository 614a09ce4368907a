import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.archive.warc import as_date, as_time, is_http, uri_of
from tests.archive.warc.warc_files import TIME
from tests.tables import each


@given(st.floats(-6e10, 2e11))
def test_a_date_says_a_time_to_the_nanosecond(time: float) -> None:
    read = as_time(as_date(time))
    assert read is not None
    assert abs(read - time) <= 1e-9


@each(
    "date, time",
    [
        ("2020", TIME),
        ("2020-01", TIME),
        ("2020-01-01", TIME),
        ("2020-01-01T00:01Z", TIME + 60),
        ("2020-01-01 00:01:00", TIME + 60),
        ("2020-01-01T00:00:01.5Z", TIME + 1.5),
        ("2020-01-01T00:00:00+00:00", TIME),
        ("2019-12-31T17:00:00-0700", TIME),
        ("2020-01-001T00:00:00Z", TIME),  # ClueWeb09: the day of the year
        ("2020-02-001T00:00:00Z", None),
        ("2020-01-01T00:00:00+99:00", None),
        ("2020-02-30T00:00:00Z", None),
        ("20200101000000", None),
        ("", None),
    ],
)
def test_dates_of_any_granularity_are_read(date: str, time: float | None) -> None:
    assert as_time(date) == time


@pytest.mark.parametrize(
    ("url", "uri"),
    [
        ("http://physics.test/a%20b?x=1&y=[2]#z", "http://physics.test/a%20b?x=1&y=[2]#z"),
        ("HTTPS://Physics.test/", "https://Physics.test/"),
        ("http://physics.test/ü\r\nX: <y>", "http://physics.test/%C3%BC%0D%0AX:%20%3Cy%3E"),
    ],
)
def test_a_url_is_written_as_a_uri(url: str, uri: str) -> None:
    assert is_http(url)
    assert uri_of(url) == uri
