"""Home of a folder: its campaigns, files that browsers send, and campaigns that begin with them."""
