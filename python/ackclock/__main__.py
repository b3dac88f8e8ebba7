"""`python -m ackclock` is the command line."""

from ackclock.cli import main

if __name__ == "__main__":
    main()
