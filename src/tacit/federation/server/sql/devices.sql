-- Who is enrolled at a server. The id is a hash of the device's first key and stays when
-- the key changes.
CREATE TABLE IF NOT EXISTS device (
    id TEXT PRIMARY KEY,
    public BLOB NOT NULL,
    enrolled INTEGER NOT NULL
);
