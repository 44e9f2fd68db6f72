"""Repairs: one file for each way of rewriting what breaks."""
