"""Clocks, cache flush, paired statistics, physical floor."""
