"""The abstract interpreter: syntax in, values out. It names no library, rule or observer."""
