"""What comes in kinds that other packages may add to: found by name, made when it is needed."""
