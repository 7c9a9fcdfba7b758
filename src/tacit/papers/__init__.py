"""The five papers, a folder each.

In each: README, printed forms (`printed`), claims and their attacks (`claims`), figures and
verdicts (`figures`), and the record of it all (`paper`). Nothing below knows a paper: a method
names its printed form by a string, and a plan with printed parts runs on an engine that is
registered for them. `machine` runs a paper's experiments again, `attacks` holds what the attacks
on claims share, `factors` what printed factorizations share.
"""
