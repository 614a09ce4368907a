"""What is said when something is wrong, and what to do then: in English and in Chinese."""

from __future__ import annotations

PROBLEMS: dict[str, tuple[str, str]] = {
    "problem.title": ("This cannot be shown", "无法显示"),
    "problem.path": ("There is no such page here.", "此处没有该页。"),
    "problem.path.do": ("Start from the first page, or search.", "请从首页开始，或检索。"),
    "problem.method": ("This can only be read.", "此处只能读取。"),
    "problem.method.do": ("Use GET or HEAD.", "请使用 GET 或 HEAD。"),
    "problem.url": ("{url} is not in the archive.", "档案中没有 {url}。"),
    "problem.url.do": (
        "Check the address (with http:// or https://), or look through the sites.",
        "请检查网址（含 http:// 或 https://），或浏览网站列表。",
    ),
    "problem.host": ("The archive has no page of {host}.", "档案中没有 {host} 的网页。"),
    "problem.host.do": ("Look through the list of sites.", "请查看网站列表。"),
    "problem.further": ("The list of {host} does not go that far.", "{host} 的列表没有这么长。"),
    "problem.further.do": ("Go back to its first page.", "请回到第一页。"),
    "problem.version": ("{url} has no version {number}.", "{url} 没有版本 {number}。"),
    "problem.version.do": ("The history of the page lists its versions.", "网页历史列出了各版本。"),
    "problem.early": (
        "{url} was not in the archive yet at {time}.",
        "{url} 在 {time} 时尚未存档。",
    ),
    "problem.early.do": ("Ask for a later time.", "请选择较晚的时间。"),
    "problem.month": ("There were no such visits in {month}.", "{month} 没有此类访问。"),
    "problem.month.do": ("Choose another month, or show all.", "请选择其他月份，或显示全部。"),
    "problem.alone": ("{url} has only one version to compare.", "{url} 只有一个可比较的版本。"),
    "problem.alone.do": (
        "Visit it again: `scrapy crawl revisit`.",
        "请再次访问：`scrapy crawl revisit`。",
    ),
    "problem.nopage": ("{url} is no web page and has no blocks.", "{url} 不是网页，没有分块。"),
    "problem.nopage.do": ("Its facts can be seen.", "可以查看其资料。"),
    "problem.large": ("{url} is too large to be drawn.", "{url} 太大，无法绘制。"),
    "problem.large.do": (
        "`scrapy archive rebuild` writes it to a file.",
        "`scrapy archive rebuild` 可将其写入文件。",
    ),
    "problem.medium": ("{url} shows no {media}.", "{url} 中没有 {media}。"),
    "problem.medium.do": ("Look at the version for what it has.", "请查看该版本的内容。"),
    "problem.report": ("There is no report {name}.", "没有报告 {name}。"),
    "problem.report.do": ("The crawls page lists the reports.", "采集页列出了报告。"),
    "problem.far": ("The list ends at page {last}.", "列表共 {last} 页。"),
    "problem.far.do": ("Go back, or narrow the list.", "请返回，或缩小范围。"),
    "problem.missing": ("The parameter {name} is missing.", "缺少参数 {name}。"),
    "problem.missing.do": ("Add it to the address.", "请在地址中补上。"),
    "problem.long": (
        "The parameter {name} is longer than {longest} characters.",
        "参数 {name} 超过 {longest} 个字符。",
    ),
    "problem.long.do": ("Shorten it.", "请缩短。"),
    "problem.number": ("{name}={value} is not understood.", "无法理解 {name}={value}。"),
    "problem.number.do": (
        "Give a whole number from {least} to {most}.",
        "请给出 {least} 至 {most} 之间的整数。",
    ),
    "problem.choice": ("{name}={value} is not known.", "没有 {name}={value}。"),
    "problem.choice.do": ("Use one of: {choices}.", "可用：{choices}。"),
    "problem.date": ("{name}={value} is no date.", "{name}={value} 不是日期。"),
    "problem.date.do": (
        "Write it as 2024-05-17, or 2024-05-17T08:30 where a time may be given.",
        "请写成 2024-05-17；可带时间的写成 2024-05-17T08:30。",
    ),
    "problem.busy": ("Too many requests wait.", "等待的请求过多。"),
    "problem.busy.do": ("Try again in a moment.", "请稍后再试。"),
    "problem.slow": ("This took longer than {seconds} seconds.", "处理时间超过 {seconds} 秒。"),
    "problem.slow.do": (
        "Try again later, or ask for less: a narrower search, a smaller page.",
        "请稍后再试，或缩小请求的范围。",
    ),
    "problem.index": ("The search index cannot be read now.", "检索索引暂时无法读取。"),
    "problem.index.do": (
        "It is made anew from the archive; try again in some minutes.",
        "正在由档案重建，请过几分钟再试。",
    ),
    "problem.store": ("The archive cannot be read now: {error}", "档案暂时无法读取：{error}"),
    "problem.store.do": (
        "See that its file or server is there, then try again.",
        "请确认其文件或服务器可用，然后重试。",
    ),
    "problem.fault": ("Something went wrong here.", "出现内部错误。"),
    "problem.fault.do": (
        "The terminal in which `scrapy browse` runs tells more.",
        "运行 `scrapy browse` 的终端有详细信息。",
    ),
}
