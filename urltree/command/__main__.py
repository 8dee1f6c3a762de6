"""`python -m urltree.command`, where the script is not on the path."""

from urltree.command.main import main

if __name__ == "__main__":
    main(prog_name="urltree")
