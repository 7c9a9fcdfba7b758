"""Methods of the local model (Shin, Kim, Shin & Xiao 2018).

What they are, and how a vector becomes an answer: `one_bit`. One answer a person, and what is known
after each round: `plan`. The twins are the same without noise.
"""
