"""From a parsed note to the chunks that are embedded, as values and as LlamaIndex nodes."""
