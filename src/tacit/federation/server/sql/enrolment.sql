-- One-time tickets of this server's own book, by digest: who may still enrol, and who has.
CREATE TABLE ticket (
    digest TEXT PRIMARY KEY,
    label TEXT NOT NULL,
    made INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    device TEXT,
    used INTEGER
);

-- The most devices that may enrol with the tickets of one label.
CREATE TABLE ticket_limit (
    label TEXT PRIMARY KEY,
    most INTEGER NOT NULL
);

-- Devices that are served no more.
CREATE TABLE banned (
    device TEXT PRIMARY KEY,
    made INTEGER NOT NULL
);
