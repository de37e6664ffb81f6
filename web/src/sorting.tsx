// Columns that sort a table. Column -1 is the name.

export interface Order {
  column: number;
  rising: boolean;
}

interface SortableProps {
  title: string;
  column: number;
  order: Order;
  choose: (order: Order) => void;
  text?: boolean;
}

export function Sortable({ title, column, order, choose, text = false }: SortableProps) {
  const mine = order.column === column;
  const now = mine ? (order.rising ? "ascending" : "descending") : "none";
  const next = { column, rising: mine ? !order.rising : column < 0 };
  return (
    <th scope="col" class={text ? "text" : "figure"} aria-sort={now}>
      <button type="button" class="sort" onClick={() => choose(next)}>
        {title}
        <span aria-hidden="true">{mine ? (order.rising ? " ▲" : " ▼") : ""}</span>
      </button>
    </th>
  );
}

/** By a figure, what is absent last; by name where that is chosen. */
export function sorted<Row>(
  rows: Row[],
  order: Order,
  name: (row: Row) => string,
  value: (row: Row, column: number) => number | null,
): Row[] {
  const sign = order.rising ? 1 : -1;
  return [...rows].sort((one, other) => {
    if (order.column < 0) {
      return sign * name(one).localeCompare(name(other));
    }
    const [a, b] = [value(one, order.column), value(other, order.column)];
    if (a === null || b === null) {
      return a === b ? 0 : a === null ? 1 : -1;
    }
    return sign * (a - b);
  });
}
