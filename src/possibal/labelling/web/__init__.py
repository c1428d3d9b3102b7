"""The labelling page: HTTP API, security middleware and static files."""
