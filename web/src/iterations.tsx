// The slowest turns of the training loop, span by span.
import { useState } from "preact/hooks";
import { Icicle } from "./icicle";
import { Scrolling, Section } from "./parts";
import type { SlowIteration } from "./payload";

export function IterationsSection({ iterations }: { iterations: SlowIteration[] }) {
  const [chosen, setChosen] = useState(0);
  const one = iterations[chosen];
  return (
    <Section id="iterations" title="Slowest iterations" note="The flight recorder keeps their single spans.">
      <Scrolling label="Slowest iterations">
        <table>
          <caption class="unseen">Slowest iterations; the buttons show one in time</caption>
          <thead>
            <tr>
              <th scope="col" class="text">
                iteration
              </th>
              <th scope="col" class="figure">
                at
              </th>
              <th scope="col" class="figure">
                took
              </th>
              <th scope="col" class="figure">
                x median
              </th>
              <th scope="col" class="text">
                mostly
              </th>
            </tr>
          </thead>
          <tbody>
            {iterations.map((iteration, index) => (
              <tr class={index === chosen ? "chosen" : ""}>
                <th scope="row" class="text">
                  <button type="button" aria-pressed={index === chosen} onClick={() => setChosen(index)}>
                    {iteration.cells[0]}
                  </button>
                </th>
                {iteration.cells.slice(1).map((cell, column) => (
                  <td class={column === 3 ? "text" : "figure"}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolling>
      {one?.boxes ? (
        <Icicle boxes={one.boxes} label={`Iteration ${one.cells[0]} in time`} ticks={one.ticks} />
      ) : null}
      {one?.note ? <p class="note">Iteration {one.cells[0]}: {one.note}.</p> : null}
    </Section>
  );
}
