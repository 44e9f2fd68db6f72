"""The static pass: reads code, never imports torch, never runs what it reads."""
