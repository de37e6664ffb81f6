// What a faster phase would bring. The sliders stop at what was computed; nothing between is made up.
import { useState } from "preact/hooks";
import { percent, Section, Swatch, tinted } from "./parts";
import type { WhatIf } from "./payload";

const AT_FIRST = 2;

export function WhatIfSection({ rows }: { rows: WhatIf[] }) {
  const [steps, setSteps] = useState(() => rows.map(() => AT_FIRST));
  const labels = rows[0]?.points.map((point) => point.label) ?? [];
  const same = steps.every((step) => step === steps[0]) ? steps[0] : -1;
  return (
    <Section
      id="whatif"
      title="What if"
      note="Steps a second, times what they are now, if one phase alone were faster and all else stayed: after start-up, with a 95% interval."
    >
      <div class="all" role="group" aria-label="All phases, each for itself">
        Each of them
        {labels.map((label, step) => (
          <button type="button" aria-pressed={same === step} onClick={() => setSteps(rows.map(() => step))}>
            {label}
          </button>
        ))}
      </div>
      <ul class="whatif">
        {rows.map((row, index) => (
          <Row
            row={row}
            step={steps[index] ?? 0}
            choose={(step) => setSteps(steps.map((old, other) => (other === index ? step : old)))}
          />
        ))}
      </ul>
    </Section>
  );
}

function Row({ row, step, choose }: { row: WhatIf; step: number; choose: (step: number) => void }) {
  const point = row.points[step];
  if (point === undefined) {
    return null;
  }
  const spoken = `${point.label}: ${point.ratio} steps a second${point.interval ? `, ${point.interval}` : ""}`;
  return (
    <li>
      <label>
        <span class="name">
          <Swatch tint={row.tint} />
          {row.phase}
        </span>
        <input
          type="range"
          min={0}
          max={row.points.length - 1}
          step={1}
          value={step}
          aria-label={`${row.phase}, how much faster`}
          aria-valuetext={spoken}
          onInput={(event) => choose(Number(event.currentTarget.value))}
        />
      </label>
      <span class="chosen">{point.label}</span>
      <span class="scale" aria-hidden="true">
        <span class={`bar ${tinted(row.tint)}`} style={{ width: percent(point.at) }} />
        <span class="interval" style={{ left: percent(point.low), width: percent(point.high - point.low) }} />
      </span>
      <output>
        <strong>{point.ratio}</strong> <span class="beside">{point.interval}</span>
      </output>
    </li>
  );
}
