"""Oracle and contender under the referee: agreement over seeded inputs, then time."""
