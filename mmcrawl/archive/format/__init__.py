"""How versions become bytes: chunks, packs, segments, manifests, and back."""
