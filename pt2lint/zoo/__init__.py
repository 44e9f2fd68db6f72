"""Verify many targets: each is a task of its own, whose result is kept as it comes.

A task runs in a thread here or on whatever machine an executor has; its result is one line of a file, from which a
stopped run goes on, parts become one, and two runs are compared.
"""
