"""Inside the verdict store: its files, their index, reading, compaction, pruning and statistics.

A store is a folder. Writers only add *segments*; a compaction turns segments into a *generation*: parts sorted by key,
and the index that names them, which is written last. A file's name tells its kind, and its digest where it is read
whole; no file changes once it has its name. What is on file twice is harmless: the latest
payment counts, and the request ids add up.
"""
