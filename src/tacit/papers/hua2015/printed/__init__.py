"""Hua, Xia & Zhong 2015 as printed."""
