import subprocess
import sys
import zipfile
from pathlib import Path

from tests.tables import each

ROOT = Path(__file__).resolve().parents[2]

USE = """
import sys
sys.path.insert(0, sys.argv[1])
from mmcrawl.text.resources import data_file
assert ".zip" in str(data_file()), data_file()
from mmcrawl.text import translate_url
from mmcrawl.topic import topic_names
print(*translate_url("http://h/wuli/"), len(topic_names()))
"""


@each("inside", [True, False])
def test_dictionaries_are_read_from_a_zip(inside, tmp_path):
    archive = tmp_path / "mmcrawl.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for folder in ("mmcrawl/text", "mmcrawl/topic", "dictionaries"):
            for file in (ROOT / folder).rglob("*"):
                if file.is_file() and "__pycache__" not in file.parts:
                    where = "mmcrawl" if inside and folder == "dictionaries" else ""
                    packed.write(file, Path(where) / file.relative_to(ROOT))
        names = "__init__.py addon.py errors.py lazy.py".split()
        for file in (f"mmcrawl/{name}" for name in names):
            packed.write(ROOT / file, file)
    shown = _python(USE, str(archive), folder=tmp_path).split()
    topics = list((ROOT / "dictionaries" / "topics").glob("*.toml"))
    assert shown == ["物理", str(len(topics))]


def test_importing_reads_no_dictionary(tmp_path):
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import mmcrawl.topic;"
        "print(*{'jieba', 'scrapy'} & {*sys.modules})"
    )
    assert _python(code, folder=tmp_path).strip() == ""


def _python(code: str, *arguments: str, folder: Path) -> str:
    command = [sys.executable, "-W", "ignore", "-c", code, *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
