"""How many free cells can be reached from where a snake would go next, counted in two ways that agree."""

from __future__ import annotations

from collections import deque

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

NEIGHBOURS = ((-1, 0), (0, 1), (1, 0), (0, -1))


def flood_fill_python(free: Tensor, starts: Tensor) -> Tensor:
    """For each game and each start (row, column): cells reachable over free ones, 0 from one that is not free.

    One breadth-first search per game and start. `free` is [games, rows, columns], `starts` is [games, n, 2].
    """
    counts = torch.zeros(starts.shape[:2])
    for game in range(len(free)):
        board = free[game].cpu().numpy()
        for number in range(starts.shape[1]):
            row, column = starts[game, number].cpu().numpy()
            counts[game, number] = _reachable(board, int(row), int(column))
    return counts


def _reachable(board: NDArray[np.bool_], row: int, column: int) -> int:
    rows, columns = board.shape
    if not (0 <= row < rows and 0 <= column < columns and board[row, column]):
        return 0
    seen = {(row, column)}
    queue = deque(seen)
    while queue:
        row, column = queue.popleft()
        for down, right in NEIGHBOURS:
            cell = row + down, column + right
            inside = 0 <= cell[0] < rows and 0 <= cell[1] < columns
            if inside and cell not in seen and board[cell]:
                seen.add(cell)
                queue.append(cell)
    return len(seen)


def flood_fill_vectorised(free: Tensor, starts: Tensor) -> Tensor:
    """The same for all games and starts at once: each row of a board is one integer, and its cells are the bits.

    The reached cells spread by one in every direction until none is new; boards may have up to 62 columns.
    """
    games, rows, columns = free.shape
    bits = 1 << torch.arange(columns, device=free.device)
    open_rows = (free * bits).sum(-1)[:, None]  # [games, 1, rows]
    inside = ((starts >= 0) & (starts < torch.tensor([rows, columns], device=free.device))).all(-1)
    row, column = starts[..., 0].clamp(0, rows - 1), starts[..., 1].clamp(0, columns - 1)
    reached = torch.zeros(games, starts.shape[1], rows, dtype=torch.int64, device=free.device)
    reached.scatter_(2, row[..., None], (bits[column] * inside)[..., None])
    reached &= open_rows
    while True:
        spread = reached | (reached << 1) | (reached >> 1)
        spread[..., 1:] |= reached[..., :-1]
        spread[..., :-1] |= reached[..., 1:]
        spread &= open_rows
        if torch.equal(spread, reached):
            return ((reached[..., None] & bits) != 0).sum((-1, -2)).float()
        reached = spread
