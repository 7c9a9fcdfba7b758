"""The documentation as a site: Markdown to pages that stand alone, with links that are checked."""
