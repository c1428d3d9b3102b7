"""Where a campaign is kept: journal, database, leases, copies."""
