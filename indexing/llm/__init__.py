"""Language models by setting: what they are, what goes to them, and what came of it."""
