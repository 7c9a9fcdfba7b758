-- Devices that were in a sum out of range, and sit out the rest of a training.
CREATE TABLE sits_out (
    task TEXT,
    device TEXT,
    PRIMARY KEY (task, device)
);
