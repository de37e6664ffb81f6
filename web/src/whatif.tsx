// What a faster phase would bring. The sliders stop at what was computed; nothing between is made up.
import { useState } from "preact/hooks";
import { percent, Section, Swatch, tinted } from "./parts";
import type { WhatIf } from "./payload";

export function WhatIfSection({ rows }: { rows: WhatIf[] }) {
  return (
    <Section
      id="whatif"
      title="What if"
      note="Steps a second, times what they are now, if one phase were faster and all else stayed: after start-up, with a 95% interval."
    >
      <ul class="whatif">
        {rows.map((row) => (
          <Row row={row} />
        ))}
      </ul>
    </Section>
  );
}

function Row({ row }: { row: WhatIf }) {
  const [step, setStep] = useState(0);
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
          onInput={(event) => setStep(Number(event.currentTarget.value))}
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
