"""What runs inside a runner (baseline or contender), in one process with a solution.

Of the judge it imports the messages (``wire``) and nothing else; of the other rooms the channel,
the stand-in that imports what was built, and the words for exceptions. import-linter holds that.
"""
