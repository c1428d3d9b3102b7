"""What experiments show: tables, figures, reports."""
