"""Marks the root of the project for pytest, and keeps what is data out of the tests.

It lies here, above ``solutions/``, because a conftest.py in there would be refused.
"""

# Programs that are wrong or hostile on purpose: tests copy them to where they are judged.
collect_ignore = ["tests/data"]
