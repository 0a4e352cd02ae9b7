"""What people read: feedback, reports, formulas."""
