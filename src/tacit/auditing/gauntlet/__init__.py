"""Published attacks as named programs, each against every method at every calibration."""
