"""Shin et al. as printed: `descent` (the rounds), `projection` (Algorithm 2), `kernels`."""
