"""Exchange with labelling platforms: files that they read and write, and Label Studio's calls."""
