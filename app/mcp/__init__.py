"""The Model Context Protocol: the vault as tools and resources for agents, over two transports.

Nothing is imported here: the SDK takes a second to load, and most commands do without it.
"""
