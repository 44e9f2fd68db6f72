"""What hears of events in the interpreted code and writes operations down; each can be left out."""
