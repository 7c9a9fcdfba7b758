"""Xian et al. 2017 and Berlioz et al. 2015 as printed."""
