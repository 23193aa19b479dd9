"""The files of a vault and what a note holds; pure but for the walk over the files."""
