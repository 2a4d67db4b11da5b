"""Builds and checks the site of Millpond."""
