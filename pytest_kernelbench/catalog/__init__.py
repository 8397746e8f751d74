"""What lies on disk: problems, solutions, and which answers which.

Nothing here executes what it reads.
"""
