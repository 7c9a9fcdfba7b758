"""Shin et al. as printed: `descent` (the rounds), `descent` (Algorithm 2), `kernels`."""
