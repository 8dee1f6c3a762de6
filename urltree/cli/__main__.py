"""`python -m urltree.cli`, where the script is not on the path."""

from urltree.cli.main import main

if __name__ == "__main__":
    main(prog_name="urltree")
