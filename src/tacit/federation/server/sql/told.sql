-- Where each device is told its own: the payloads of some devices of an open attempt, kept
-- before the first of them is told. `device` is the first of them.
CREATE TABLE announced_some (
    task TEXT,
    round INTEGER,
    attempt INTEGER,
    device TEXT,
    digest TEXT NOT NULL,
    told BLOB NOT NULL,
    PRIMARY KEY (task, round, attempt, device)
);
