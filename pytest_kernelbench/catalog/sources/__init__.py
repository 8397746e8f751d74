"""Solutions and problems that lie in other things than a Python file each: read, never executed."""
