"""The machine that runs a paper again: experiments, findings, records, pages."""
