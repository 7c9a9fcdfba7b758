-- The stamp of a device's last new key: an older message brings no key back.
CREATE TABLE rotation (
    device TEXT PRIMARY KEY,
    stamp INTEGER NOT NULL
);
