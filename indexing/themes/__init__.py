"""The themes of a vault: communities of its graph of links, with names that last."""
