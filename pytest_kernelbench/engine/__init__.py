"""Where pairs are judged."""
