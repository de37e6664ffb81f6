"""From numbers to findings: one rule, one function, one page of docs."""
