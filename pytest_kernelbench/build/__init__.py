"""From source to extension: cache, headers, diagnostics."""
