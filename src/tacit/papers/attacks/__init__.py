"""What papers claim of their privacy, each sentence attacked at its own relation."""
