"""What a page says: headline, main text, its kind, and the model that tells content from noise."""
