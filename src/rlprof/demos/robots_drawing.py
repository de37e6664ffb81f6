"""The board of the sliding robots as a picture, drawn with Pillow and timed by name."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from rlprof import profile, profile_function

CELL = 16  # pixels of a side
COLOURS = ((214, 40, 40), (0, 119, 182), (56, 142, 60), (245, 190, 10))
PAPER, GRID, WALL, STAR = (250, 248, 240), (215, 210, 200), (40, 40, 40), (160, 32, 200)

Cell = tuple[int, int]


class Drawing:
    """Draws one board, again and again from the beginning."""

    def __init__(self, walls: NDArray[np.bool_]) -> None:
        self.walls = walls
        self.side = len(walls) * CELL

    @profile_function("rgb observation generation", phase="env.render")
    def observation(self, robots: list[Cell], target: Cell, size: int) -> NDArray[np.uint8]:
        """The picture as an agent sees it."""
        picture = self._draw(robots, target)
        with profile("resizing"):
            small = picture.resize((size, size), Image.Resampling.BILINEAR)
        return np.asarray(small, np.uint8)

    def picture(self, robots: list[Cell], target: Cell) -> NDArray[np.uint8]:
        """The picture in its full size."""
        return np.asarray(self._draw(robots, target), np.uint8)

    @profile_function("rendering", phase="env.render")
    def _draw(self, robots: list[Cell], target: Cell) -> Image.Image:
        picture = Image.new("RGB", (self.side, self.side), PAPER)
        pen = ImageDraw.Draw(picture)
        self._draw_grid(pen)
        self._draw_walls(pen)
        self._draw_target(pen, target)
        self._draw_robots(pen, robots)
        return picture

    @profile_function("draw grid")
    def _draw_grid(self, pen: Any) -> None:
        for at in range(0, self.side, CELL):
            pen.line((at, 0, at, self.side), fill=GRID)
            pen.line((0, at, self.side, at), fill=GRID)

    @profile_function("draw walls")
    def _draw_walls(self, pen: Any) -> None:
        for row, column, side in np.argwhere(self.walls).tolist():
            left, top = column * CELL, row * CELL
            right, bottom = left + CELL - 1, top + CELL - 1
            ends = (
                (left, top, right, top),
                (right, top, right, bottom),
                (left, bottom, right, bottom),
                (left, top, left, bottom),
            )
            pen.line(ends[side], fill=WALL, width=2)

    @profile_function("draw robots")
    def _draw_robots(self, pen: Any, robots: list[Cell]) -> None:
        for robot, (row, column) in enumerate(robots):
            left, top = column * CELL + 2, row * CELL + 2
            pen.ellipse((left, top, left + CELL - 5, top + CELL - 5), fill=COLOURS[robot % len(COLOURS)])

    @profile_function("draw target")
    def _draw_target(self, pen: Any, target: Cell) -> None:
        middle_x, middle_y = (target[1] + 0.5) * CELL, (target[0] + 0.5) * CELL
        points = []
        for corner in range(10):  # of a star with five points
            angle, radius = math.pi * corner / 5, CELL * (0.48 if corner % 2 == 0 else 0.2)
            points.append((middle_x + radius * math.sin(angle), middle_y - radius * math.cos(angle)))
        pen.polygon(points, fill=STAR)
