"""Any file or frame as a feature matrix."""
