-- What the devices of an open attempt are told, byte for byte, until the round is over:
-- masks are keyed by a digest of it. One payload where everybody is told the same.
CREATE TABLE announced (
    task TEXT,
    round INTEGER,
    attempt INTEGER,
    alike INTEGER NOT NULL,
    seeds TEXT NOT NULL,
    digest TEXT NOT NULL,
    told BLOB NOT NULL,
    PRIMARY KEY (task, round, attempt)
);
