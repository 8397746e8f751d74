"""Judging on a Ray cluster: what travels, what a node does with it, and who gets the next pair."""
