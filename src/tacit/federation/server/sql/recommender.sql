-- One training: its document, the place of the next round, the public state before it, what
-- the scheme keeps (tau), and the ledger's receipt.
CREATE TABLE task (
    id TEXT PRIMARY KEY,
    document BLOB NOT NULL,
    round INTEGER NOT NULL,
    state BLOB NOT NULL,
    tau BLOB,
    finished INTEGER NOT NULL,
    receipt TEXT
);

-- Attempts at rounds: open, given up, done or spoilt.
CREATE TABLE round (
    task TEXT,
    round INTEGER,
    attempt INTEGER,
    nonce TEXT NOT NULL,
    key TEXT NOT NULL,
    status TEXT NOT NULL,
    PRIMARY KEY (task, round, attempt)
);

-- Who joined an attempt, with which key, and the rows of its items where they are shown.
CREATE TABLE joined (
    task TEXT,
    round INTEGER,
    attempt INTEGER,
    device TEXT,
    public BLOB,
    items BLOB,
    PRIMARY KEY (task, round, attempt, device)
);
