"""The Model Context Protocol: the vault as tools for agents, over two transports."""
