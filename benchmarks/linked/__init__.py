"""A second opinion on links between lines: from the texts and from values, without any code of depyf's."""
