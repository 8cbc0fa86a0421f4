"""What the data flows through: one thin PTransform a stage, its logic beside it in plain functions."""
