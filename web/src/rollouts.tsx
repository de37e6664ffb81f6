// The mean rollout of each phase of the program's schedule, and its speed beside what is expected.
import { percent, Scrolling, Section } from "./parts";
import type { Rollout, Speed } from "./payload";

const SPEED_HEAD = ["phase", "hardware", "measured", "expected", ""];

export function RolloutsSection({ rollouts, speeds }: { rollouts: Rollout[]; speeds: Speed[] }) {
  return (
    <Section id="rollouts" title={rollouts.length > 0 ? "Rollouts" : "Expected speed"}>
      {rollouts.map((rollout) => (
        <OneRollout rollout={rollout} />
      ))}
      {speeds.length > 0 ? <Speeds speeds={speeds} /> : null}
    </Section>
  );
}

function OneRollout({ rollout }: { rollout: Rollout }) {
  return (
    <Scrolling label={rollout.title}>
      <table class="small">
        <caption>{rollout.title}</caption>
        <thead>
          <tr>
            <th scope="col" class="text">
              mean rollout
            </th>
            <th scope="col" class="figure">
              time
            </th>
            <th scope="col" class="figure">
              share
            </th>
            <th scope="col" class="bars">
              <span class="unseen">share as a bar</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rollout.rows.map((row) => (
            <tr>
              <th scope="row" class={`text depth-${Math.min(row.depth, 3)}`}>
                {row.name}
              </th>
              <td class="figure">{row.time}</td>
              <td class="figure">{row.percent}</td>
              <td class="bars">
                <span class="bar h-environment tint s0" style={{ width: percent(row.share) }} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolling>
  );
}

function Speeds({ speeds }: { speeds: Speed[] }) {
  return (
    <Scrolling label="Speed beside what is expected">
      <table class="small">
        <caption>Speed beside what is expected; below half of the least it is flagged</caption>
        <thead>
          <tr>
            {SPEED_HEAD.map((title, column) => (
              <th scope="col" class={column === 2 || column === 3 ? "figure" : "text"}>
                {title || <span class="unseen">verdict</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {speeds.map((speed) => (
            <tr>
              {speed.cells.map((cell, column) =>
                column === 0 ? (
                  <th scope="row" class="text">
                    {cell}
                  </th>
                ) : (
                  <td class={column === 2 || column === 3 ? "figure" : "text"}>
                    {column === 4 ? <span class={`status ${speed.flagged ? "verdict-slower" : "verdict-same"}`}>{cell}</span> : cell}
                    {column === 4 && speed.source ? <span class="beside"> ({speed.source})</span> : null}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolling>
  );
}
