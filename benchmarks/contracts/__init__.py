"""The checks that four projects wrote for themselves, written with the plugin, and what they have to catch."""
