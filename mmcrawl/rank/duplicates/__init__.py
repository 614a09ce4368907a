"""Pages that say the same, or nearly."""
