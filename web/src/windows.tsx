// Where another profiler looked on, and what torch.profiler saw: operators by phase.
import { Section, Swatch, Table } from "./parts";
import type { Windows } from "./payload";

export function WindowsSection({ windows }: { windows: Windows }) {
  return (
    <Section id="windows" title="Windows" note="Iterations in which another profiler looked on.">
      <ul>
        {windows.entries.map((entry) => (
          <li>
            {entry.said} <code class="beside">{entry.files}</code>
          </li>
        ))}
      </ul>
      {windows.operators.length > 0 ? (
        <>
          <h3>Operators</h3>
          <p class="note">{windows.note}</p>
          {windows.operators.map((part, index) => (
            <details class="part" open={index === 0}>
              <summary>
                <Swatch tint={part.tint} />
                <span class="grow">{part.phase}</span>
                <span class="figure">{part.time}</span>
                <span class="figure">{part.percent}</span>
                <span class="beside wide">{part.calls}</span>
              </summary>
              <div class="inside">
                <Table caption={`Operators in ${part.phase}`} head={part.head} rows={part.rows} quiet />
              </div>
            </details>
          ))}
        </>
      ) : null}
    </Section>
  );
}
