"""The methods that cut a page into blocks, one module each."""
