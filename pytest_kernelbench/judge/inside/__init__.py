"""What runs inside a runner (baseline or contender).

Imports nothing of the package but the wire and its channel.
"""
