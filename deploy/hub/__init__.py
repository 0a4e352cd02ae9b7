"""JupyterHub for a school: its settings, and what puts them in place; docs/hub.md says how."""
