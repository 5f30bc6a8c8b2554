"""Draws the pictures of the documentation: ``python docs/make_pictures.py [NAME ...]``.

Every picture is computed by the package itself, with fixed seeds. Without names all are drawn, into
the folder docs/images.
"""

import io
import sys
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pictures_of_libraries  # noqa: F401  registers its pictures
import pictures_of_models  # noqa: F401  registers its pictures
import pictures_of_outliers  # noqa: F401  registers its pictures
import pictures_of_runs  # noqa: F401  registers its pictures
from picture_tools import pictures
from PIL import Image

FOLDER = Path(__file__).parent / "images"


def main(names: list[str]) -> None:
    """Draw the pictures of these names, or all."""
    mpl.use("Agg")
    plt.rcParams.update({
        "font.size": 9, "axes.titlesize": 10, "axes.spines.top": False, "axes.spines.right": False,
    })  # fmt: skip
    FOLDER.mkdir(exist_ok=True)
    for name in names or list(pictures):
        fig = pictures[name]()
        path = FOLDER / f"{name}.png"
        drawn = io.BytesIO()
        fig.savefig(drawn, dpi=110)
        plt.close(fig)
        # 128 colours are enough, and make small files.
        Image.open(drawn).convert("RGB").quantize(128).save(path, optimize=True)
        print(f"{path.name}: {path.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
