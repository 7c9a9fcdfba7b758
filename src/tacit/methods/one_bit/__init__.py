"""Methods of the local model (Shin, Kim, Shin & Xiao 2018).

What they are: `one_bit`. One answer a person: `plan` and its `plan`. How a vector becomes
an answer: `carrier`. What is known after each round: `state`. As the paper prints it:
`printed`. Compiled: `kernels`. The twins are the same without noise.
"""
