"""Released numbers made better by what is known about their noise: shrunk, denoised,
chosen. Costs no budget."""
