"""The judge judged: a corpus of cheats and honest kernels, the verdict each must get, and ``kb selftest``."""
