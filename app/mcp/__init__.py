"""The Model Context Protocol: the vault as tools and resources for agents, over two transports."""
