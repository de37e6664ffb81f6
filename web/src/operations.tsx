// Every operation, sorted and filtered as the reader likes.
import { useMemo, useState } from "preact/hooks";
import { Scrolling, Section, Swatch } from "./parts";
import type { OperationRow, Operations } from "./payload";
import { Sortable, sorted, type Order } from "./sorting";

const FIRST = 30;

export function OperationsSection({ operations }: { operations: Operations }) {
  const [words, setWords] = useState("");
  const [order, setOrder] = useState<Order>({ column: operations.head.indexOf("self"), rising: false });
  const [all, setAll] = useState(false);
  const found = useMemo(() => {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (row: OperationRow) => {
      const text = [...row.path, row.phase, row.where, ...row.labels].join(" ").toLowerCase();
      return wanted.every((word) => text.includes(word));
    };
    return sorted(
      operations.rows.filter(fits),
      order,
      (row) => row.path.join(" / "),
      (row, column) => row.values[column] ?? null,
    );
  }, [operations, words, order]);
  const shown = all ? found : found.slice(0, FIRST);
  return (
    <Section id="operations" title="Operations" note="Self is the time without the operations inside.">
      <div class="controls">
        <label>
          Filter{" "}
          <input
            type="search"
            value={words}
            placeholder="name, phase or process"
            onInput={(event) => setWords(event.currentTarget.value)}
          />
        </label>
        <span role="status" class="beside">
          {found.length} of {operations.rows.length} operations
        </span>
      </div>
      <Scrolling label="Operations">
        <table class="operations">
          <caption class="unseen">Operations; the buttons in the first row sort them</caption>
          <thead>
            <tr>
              <Sortable title="operation" column={-1} order={order} choose={setOrder} text />
              <th scope="col" class="text phase">
                phase
              </th>
              {operations.several ? (
                <th scope="col" class="text">
                  process, thread
                </th>
              ) : null}
              {operations.head.map((title, column) => (
                <Sortable title={title} column={column} order={order} choose={setOrder} />
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <Row row={row} several={operations.several} />
            ))}
          </tbody>
        </table>
      </Scrolling>
      {found.length > shown.length ? (
        <button type="button" class="more" onClick={() => setAll(true)}>
          Show all {found.length}
        </button>
      ) : null}
      {operations.leftOut > 0 ? <p class="note">{operations.leftOut} more are in the JSON report.</p> : null}
    </Section>
  );
}

function Row({ row, several }: { row: OperationRow; several: boolean }) {
  const last = row.path[row.path.length - 1] ?? "";
  const near = row.path.slice(-2, -1);
  const far = row.path.slice(0, -2);
  return (
    <tr>
      <th scope="row" class="text path">
        {far.length > 0 ? <span class="beside far">{far.join(" / ")} / </span> : null}
        {near.length > 0 ? <span class="beside">{near[0]} / </span> : null}
        {last}
        {row.open ? <span class="beside"> (still running)</span> : null}
        {row.labels.map((label) => (
          <span class="label">{label}</span>
        ))}
      </th>
      <td class="text phase">
        <Swatch tint={row.tint} />
        {row.phase}
      </td>
      {several ? <td class="text beside">{row.where}</td> : null}
      {row.cells.map((cell) => (
        <td class="figure">{cell}</td>
      ))}
    </tr>
  );
}
