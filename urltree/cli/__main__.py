"""`python -m urltree.cli`, for environments in which the script `urltree` is not on the PATH."""

from urltree.cli.main import main

if __name__ == "__main__":
    main(prog_name="urltree")
