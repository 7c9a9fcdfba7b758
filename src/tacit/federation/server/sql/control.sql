-- What the operator has ordered for a training: pause, abort, retry, expires.
CREATE TABLE control (
    task TEXT,
    name TEXT,
    value TEXT NOT NULL,
    PRIMARY KEY (task, name)
);
