"""Words of notes and queries as tokens: the one tokenizer of the lexical index."""
