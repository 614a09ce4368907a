"""The kinds of media, and what people call them."""

AUDIO = "audio"
VIDEO = "video"
ANIMATION = "animation"
SIMULATION = "simulation"
DOCUMENT = "document"
PACKAGE = "package"
IMAGE_ANIMATION = "image-animation"

KINDS = (AUDIO, VIDEO, ANIMATION, SIMULATION, DOCUMENT, PACKAGE, IMAGE_ANIMATION)
DEFAULT_KINDS = (AUDIO, VIDEO, ANIMATION, SIMULATION)
"""What is looked for if nothing else is said: what moves or sounds, or can be played with."""

CHINESE = {
    AUDIO: "音频",
    VIDEO: "视频",
    ANIMATION: "动画",
    SIMULATION: "仿真",
    DOCUMENT: "文档",
    PACKAGE: "软件包",
    IMAGE_ANIMATION: "动图",
}
_NAMES = {
    AUDIO: "声音 音响 录音 音乐 音頻",
    VIDEO: "录像 影片 視頻 微课",
    ANIMATION: "swf flash 動畫 动漫",
    SIMULATION: "applet interactive 模拟 模擬 虚拟实验 仿真实验 互动 交互",
    DOCUMENT: "doc ppt pptx pdf slides 课件 幻灯片 演示文稿 文件 文檔",
    PACKAGE: "zip scorm archive 压缩包 安装包 打包",
    IMAGE_ANIMATION: "gif apng 动态图 动态图片 動圖",
}
_KIND_OF = {name: kind for kind, names in _NAMES.items() for name in (kind, *names.split())}
_KIND_OF |= {name: kind for kind, name in CHINESE.items()}


def kind_named(name: str) -> str:
    """Return the kind of media that a name stands for, in English or Chinese.

    Raises:
        ValueError: it is none; the message names those that are near.

    >>> kind_named("视频"), kind_named("Flash"), kind_named("simulations")
    ('video', 'animation', 'simulation')
    """
    wanted = name.strip().lower().replace("_", "-")
    for one in (wanted, wanted.removesuffix("s")):
        if one in _KIND_OF:
            return _KIND_OF[one]
    from difflib import get_close_matches  # seldom needed, and slow to load

    near = get_close_matches(wanted, _KIND_OF, 2, 0.5)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    raise ValueError(f"there is no media kind {name.strip()!r}{hint}")
