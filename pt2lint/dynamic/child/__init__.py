"""What runs in the child process: torch and the standard library are all it needs.

It is started as a file, `PYTHON main.py SPEC FD`, under the interpreter that has the user's torch, so
nothing here imports pt2lint or a third-party package, and the syntax stays that of Python 3.9. Results
leave as JSON lines on the file descriptor FD; stdout and stderr belong to the code that is verified.
"""
