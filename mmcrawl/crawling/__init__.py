"""One crawl without Scrapy: what is told of each page, and what follows from it."""
