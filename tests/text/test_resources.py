import subprocess
import sys
import zipfile
from pathlib import Path

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


def test_dictionaries_are_read_from_a_zip(tmp_path):
    """With the dictionaries inside the package, as it is installed."""
    archive = tmp_path / "mmcrawl.zip"
    files = [ROOT / "mmcrawl" / f"{name}.py" for name in ("__init__", "addon", "errors", "lazy")]
    for folder in ("mmcrawl/text", "mmcrawl/topic", "dictionaries"):
        files += (file for file in (ROOT / folder).rglob("*") if file.is_file())
    with zipfile.ZipFile(archive, "w") as packed:
        for file in (file for file in files if "__pycache__" not in file.parts):
            name = str(file.relative_to(ROOT))
            packed.write(file, name.replace("dictionaries/", "mmcrawl/dictionaries/"))
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
