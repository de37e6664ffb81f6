// Is B faster than A, and where?
import { useMemo, useState } from "preact/hooks";
import { percent, Scrolling, Section, Swatch, tinted, Warnings } from "./parts";
import type { ComparedRow, Comparison, Measured } from "./payload";
import { Shell } from "./shell";
import { Sortable, sorted, type Order } from "./sorting";

export function ComparisonPage({ found }: { found: Comparison }) {
  const sections = [
    { id: "phases", title: "By phase", drawn: <Phases found={found} /> },
    found.operations.length > 0 && { id: "operations", title: "Operations", drawn: <Operations found={found} /> },
    { id: "conditions", title: "Conditions", drawn: <Conditions found={found} /> },
  ].filter((section) => section !== false);
  return (
    <Shell
      title={found.headline}
      above={
        <>
          <p class="facts">
            <span class={`status verdict-${found.verdict}`}>{found.verdict.replace("-", " ")}</span>
            <span>{found.pairs}</span>
            {found.explanation.map((text) => (
              <span>{text}</span>
            ))}
          </p>
          <dl class="sides">
            {found.sides.map((side) => (
              <div>
                <dt>{side.letter}</dt>
                <dd>
                  <code>{side.name}</code>
                </dd>
              </div>
            ))}
          </dl>
          <div class="overall">
            <Interval measured={found.overall} />
            <span class="beside">slower</span>
            <span>
              <strong>{found.overall.change}</strong> {found.overall.interval}
            </span>
            <span class="beside">faster</span>
          </div>
        </>
      }
      entries={sections}
      foot={<p class="note">A ratio above 1 says that B is faster. The file asks nothing of the network.</p>}
    >
      {sections.map((section) => section.drawn)}
    </Shell>
  );
}

function Interval({ measured }: { measured: Measured }) {
  const { at, low, high } = measured;
  return (
    <span class="forest" aria-hidden="true">
      <span class="same" />
      {low !== null && high !== null ? (
        <span class="reach" style={{ left: percent(low), width: percent(high - low) }} />
      ) : null}
      {at !== null ? <span class="point" style={{ left: percent(at) }} /> : null}
    </span>
  );
}

function Phases({ found }: { found: Comparison }) {
  return (
    <Section id="phases" title="By phase" note={`Time per ${found.per}; A above, B below it.`}>
      <Scrolling label="Phases of A and B">
        <table>
          <caption class="unseen">Each phase of A and of B, with the speed-up</caption>
          <thead>
            <tr>
              <th scope="col" class="text">
                phase
              </th>
              <th scope="col" class="pair">
                <span class="unseen">A and B as bars</span>
              </th>
              <th scope="col" class="figure">
                A
              </th>
              <th scope="col" class="figure">
                B
              </th>
              <ChangeHeads />
            </tr>
          </thead>
          <tbody>
            {found.phases.map((row) => (
              <tr>
                <th scope="row" class="text">
                  <Swatch tint={row.tint} />
                  {row.name}
                </th>
                <td class="pair">
                  <span class={`bar ${tinted(row.tint)} baseline`} style={{ width: percent(row.lengthA) }} />
                  <span class={`bar ${tinted(row.tint)}`} style={{ width: percent(row.lengthB) }} />
                </td>
                <td class="figure">{row.a}</td>
                <td class="figure">{row.b}</td>
                <ChangeCells row={row} />
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolling>
      {found.memory ? <p>Memory: {found.memory}.</p> : null}
    </Section>
  );
}

function ChangeHeads() {
  return (
    <>
      <th scope="col" class="figure">
        speed-up
      </th>
      <th scope="col" class="text">
        likely
      </th>
      <th scope="col" class="forest">
        <span class="unseen">speed-up, drawn</span>
      </th>
      <th scope="col" class="figure">
        saves of A
      </th>
      <th scope="col" class="text">
        verdict
      </th>
    </>
  );
}

function ChangeCells({ row }: { row: ComparedRow }) {
  return (
    <>
      <td class="figure">{row.change}</td>
      <td class="text beside">{row.interval}</td>
      <td class="forest">
        <Interval measured={row} />
      </td>
      <td class="figure">{row.saved}</td>
      <td class="text">
        <span class={`status verdict-${row.verdict}`}>{row.said}</span>
      </td>
    </>
  );
}

const COLUMNS = ["A", "B", "speed-up", "saves of A"];

function Operations({ found }: { found: Comparison }) {
  const [words, setWords] = useState("");
  const [order, setOrder] = useState<Order>({ column: 0, rising: false });
  const rows = useMemo(() => {
    const wanted = words.toLowerCase();
    return sorted(
      found.operations.filter((row) => `${row.path.join(" ")} ${row.said}`.toLowerCase().includes(wanted)),
      order,
      (row) => row.path.join(" / "),
      (row, column) => row.values[column] ?? null,
    );
  }, [found, words, order]);
  return (
    <Section id="operations" title="Operations" note={`Own time per ${found.per}.`}>
      <div class="controls">
        <label>
          Filter{" "}
          <input type="search" value={words} placeholder="name or verdict" onInput={(event) => setWords(event.currentTarget.value)} />
        </label>
        <span role="status" class="beside">
          {rows.length} of {found.operations.length} operations
        </span>
      </div>
      <Scrolling label="Operations of A and B">
        <table>
          <caption class="unseen">Operations of A and B; the buttons in the first row sort them</caption>
          <thead>
            <tr>
              <Sortable title="operation" column={-1} order={order} choose={setOrder} text />
              {COLUMNS.map((title, column) => (
                <Sortable title={title} column={column} order={order} choose={setOrder} />
              ))}
              <th scope="col" class="text">
                likely
              </th>
              <th scope="col" class="text">
                verdict
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr>
                <th scope="row" class="text path">
                  {row.path.join(" / ")}
                </th>
                <td class="figure">{row.a}</td>
                <td class="figure">{row.b}</td>
                <td class="figure">{row.change}</td>
                <td class="figure">{row.saved}</td>
                <td class="text beside">{row.interval}</td>
                <td class="text">
                  <span class={`status verdict-${row.verdict}`}>{row.said}</span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolling>
    </Section>
  );
}

function Conditions({ found }: { found: Comparison }) {
  return (
    <Section id="conditions" title="Conditions">
      {found.notes.map((note) => (
        <>
          <h3>{note.title}</h3>
          <ul>
            {note.lines.map((text) => (
              <li>{text}</li>
            ))}
          </ul>
        </>
      ))}
      {found.warnings.length > 0 ? <Warnings warnings={found.warnings} /> : <p>No warnings.</p>}
      <h3>Recordings</h3>
      {found.sides.map((side) => (
        <details>
          <summary>
            {side.letter}: {side.recordings.length}
          </summary>
          <ul>
            {side.recordings.map((name) => (
              <li>
                <code>{name}</code>
              </li>
            ))}
          </ul>
        </details>
      ))}
    </Section>
  );
}
