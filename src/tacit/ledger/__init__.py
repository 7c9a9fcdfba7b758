"""Events (data), accountants (functions of events), the book (durable), the statement
(words and JSON).

Read in this order: `event`, `cost`, `account`, `calibrate`; `entry`, `chain`, `store`,
`sqlite`, `rules`, `book`; `statement`, `words`, `story`, `registry`.
"""
