"""The ground: the course's folder, files, the database's address, errors."""
