"""`python -m keepsense` is the command `keepsense`."""

from keepsense.cli import main

if __name__ == "__main__":
    main()
