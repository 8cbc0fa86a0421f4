"""What the data is: records, rows, chat shapes, traces, verdicts, run config, tables. No Beam graph, no network."""
