"""Tests of runs over many targets."""
