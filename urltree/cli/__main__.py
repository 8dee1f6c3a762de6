"""Run the command `urltree` by `python -m urltree.cli`, if its script is not on the PATH."""

from urltree.cli.main import main

if __name__ == "__main__":
    main(prog_name="urltree")
