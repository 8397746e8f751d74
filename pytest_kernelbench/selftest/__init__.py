"""The judge judged: cheats and honest kernels, the verdict each must get, ``kb selftest``."""
