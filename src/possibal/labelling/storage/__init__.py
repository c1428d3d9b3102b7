"""Storage of a campaign: journal, database, write queue, leases, backups."""
