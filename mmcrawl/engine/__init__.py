"""What Scrapy calls: scheduler, middlewares, extensions, items."""
