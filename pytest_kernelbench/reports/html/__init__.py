"""One page that holds everything: pictures, scores, and every pair with its source."""
