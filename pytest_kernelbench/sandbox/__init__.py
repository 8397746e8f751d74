"""Child processes of a warm fork server, and the walls around them."""
