"""The teacher: a script in plain Python that knows what an agent had best do, from what the agent sees."""

from __future__ import annotations

from collections import deque

from .teacher_grid import CARRIES, CRATE, DEPOT, MOVES, SIDE, SIGHT, STAY, TO_CRATE, TO_DEPOT, WALL, WORK, Floats

CENTRE = (SIGHT, SIGHT)


class ScriptedTeacher:
    """Fetch the nearest crate, bring it to the depot. Looks for the way among the cells in sight, breadth first."""

    def __init__(self, cells: int) -> None:
        self.cells = cells  # of a side of the grid: directions are given as shares of it

    def act(self, observation: Floats) -> int:
        """What one agent had best do."""
        seen = observation[: 4 * SIDE * SIDE].reshape(4, SIDE, SIDE)
        carries = observation[CARRIES] > 0.5
        goal, direction = (DEPOT, TO_DEPOT) if carries else (CRATE, TO_CRATE)
        if seen[goal][CENTRE]:
            return WORK
        down, right = (round(float(share) * self.cells) for share in observation[direction : direction + 2])
        if not (down or right):
            return STAY  # no crate is left to fetch
        return self._first_move(seen[WALL], (SIGHT + down, SIGHT + right))

    def _first_move(self, walls: Floats, target: tuple[int, int]) -> int:
        """The first step on the way to the reachable cell in sight that is nearest to the target."""
        first: dict[tuple[int, int], int] = {CENTRE: STAY}
        best, move = self._distance(CENTRE, target), STAY
        queue = deque(first)
        while queue:
            cell = queue.popleft()
            left = self._distance(cell, target)
            if left < best:
                best, move = left, first[cell]
            for action, (down, right) in MOVES.items():
                following = cell[0] + down, cell[1] + right
                inside = 0 <= following[0] < SIDE and 0 <= following[1] < SIDE
                if inside and following not in first and not walls[following]:
                    first[following] = first[cell] or action
                    queue.append(following)
        return move

    @staticmethod
    def _distance(cell: tuple[int, int], target: tuple[int, int]) -> int:
        return abs(cell[0] - target[0]) + abs(cell[1] - target[1])
