"""What a user starts: one module a job."""
