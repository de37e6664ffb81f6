// Processes as lanes: what each did in the course of the run, and what vector environments are made of.
import { useMemo } from "preact/hooks";
import { stacked, WIDTH } from "./areas";
import { Scrolling, Section, Table, TimeAxis } from "./parts";
import type { Lanes, Report, VectorEnv } from "./payload";

const HEIGHT = 24;

function stateClass(state: string): string {
  return `state state-${state.toLowerCase().replace(" ", "-")}`;
}

export function LanesSection({ report, lanes }: { report: Report; lanes: Lanes }) {
  return (
    <Section id="lanes" title="Processes" note={lanes.states.includes("idle") ? "A worker outside of its spans waits for the next command: it is idle." : ""}>
      <ul class="legend">
        {lanes.states.map((state) => (
          <li>
            <span class={`swatch ${stateClass(state)}`} aria-hidden="true" />
            {state}
          </li>
        ))}
      </ul>
      <Scrolling label="Processes">
        <table class="lanes">
          <caption class="unseen">Each process and the share of its time in each state</caption>
          <thead>
            <tr>
              <th scope="col" class="text">
                process
              </th>
              <th scope="col" class="lane text">
                over time
              </th>
              {lanes.states.map((state) => (
                <th scope="col" class="figure">
                  {state}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {lanes.lanes.map((lane) => (
              <tr>
                <th scope="row" class="text">
                  {lane.name}
                </th>
                <td class="lane">
                  <LaneDrawing lanes={lanes} shares={lane.shares} />
                </td>
                {lane.cells.map((cell) => (
                  <td class="figure">{cell}</td>
                ))}
              </tr>
            ))}
            <tr aria-hidden="true">
              <td />
              <td class="lane">
                <TimeAxis ticks={lanes.ticks.filter((_, index) => index % 2 === 0)} />
              </td>
            </tr>
          </tbody>
        </table>
      </Scrolling>
      {lanes.note ? <p class="note">{lanes.note}.</p> : null}
      {report.vectorEnvs.map((env) => (
        <OneVectorEnv env={env} />
      ))}
    </Section>
  );
}

function LaneDrawing({ lanes, shares }: { lanes: Lanes; shares: Record<string, number[]> }) {
  const states = lanes.states.filter((state) => shares[state] !== undefined);
  const outlines = useMemo(
    () => stacked(lanes.edges, states.map((state) => shares[state] ?? []), HEIGHT),
    [lanes, shares],
  );
  return (
    <svg class="lane" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {states.map((state, index) => (
        <path class={stateClass(state)} d={outlines[index] ?? ""} />
      ))}
    </svg>
  );
}

function OneVectorEnv({ env }: { env: VectorEnv }) {
  const spoken = env.parts.map((part) => `${part.name} ${part.percent}`).join(", ");
  return (
    <>
      <h3>{env.title}</h3>
      {env.parts.length > 0 ? (
        <>
          <div class="stacked step" role="img" aria-label={`A step: ${spoken}`}>
            {env.parts.map((part, index) => (
              <span class={`step-part p${index}`} style={{ flexGrow: part.share }} title={`${part.name}: ${part.percent}`} />
            ))}
          </div>
          <ul class="legend">
            {env.parts.map((part, index) => (
              <li>
                <span class={`swatch step-part p${index}`} aria-hidden="true" />
                <span>
                  {part.name} <strong>{part.time}</strong> ({part.percent}) <span class="beside">{part.note}</span>
                </span>
              </li>
            ))}
          </ul>
        </>
      ) : null}
      <p class="note">{[...env.facts, env.error].filter(Boolean).join("; ")}.</p>
      <Table caption={`Workers of ${env.title}`} head={env.head} rows={env.rows} quiet />
    </>
  );
}

