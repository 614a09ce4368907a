"""The pages of the web application."""
