"""Keeping a text as a new note: the only thing in notehop that writes to a vault."""
