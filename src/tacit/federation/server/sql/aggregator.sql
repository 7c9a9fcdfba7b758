-- Attempts at rounds: open, given up or revealed, with the sum that was revealed.
CREATE TABLE round (
    task TEXT,
    round INTEGER,
    attempt INTEGER,
    opening BLOB NOT NULL,
    least INTEGER NOT NULL,
    status TEXT NOT NULL,
    sum BLOB,
    PRIMARY KEY (task, round, attempt)
);

-- Masked contributions, until their round is over.
CREATE TABLE upload (
    task TEXT,
    round INTEGER,
    attempt INTEGER,
    device TEXT,
    digest TEXT NOT NULL,
    least INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (task, round, attempt, device)
);
