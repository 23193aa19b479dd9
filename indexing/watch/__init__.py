"""Keeps an index up to its vault while the vault changes."""
