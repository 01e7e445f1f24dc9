"""One module per API, written by `scripts/generate_messages.py`. Import the module of the message that you need."""
