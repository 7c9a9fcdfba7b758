"""McSherry & Mironov as printed: `mcsherry` (the rounds), `probe` (what they fit on raw
held-back ratings)."""
