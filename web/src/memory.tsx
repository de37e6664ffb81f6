// Memory over time, a curve for each process.
import { curve, WIDTH } from "./areas";
import { HeightAxis, Section, Table, TimeAxis } from "./parts";
import type { Memory } from "./payload";

const HEIGHT = 180;
const LINES = 6;

export function MemorySection({ memory }: { memory: Memory }) {
  return (
    <Section id="memory" title="Memory" note="Resident memory of each process, by the sampler; peaks are kept.">
      <figure>
        <div class="panel" style={{ height: `${HEIGHT}px` }}>
          <HeightAxis ticks={memory.heights} />
          <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
            {memory.curves.map((one, index) => (
              <path class={`curve c${index % LINES}${one.device ? " device" : ""}`} d={curve(one.x, one.y, HEIGHT)} />
            ))}
          </svg>
        </div>
        <TimeAxis ticks={memory.ticks} />
        <figcaption class="unseen">The table below has the first, highest and last figure of each curve.</figcaption>
      </figure>
      <div class="keyed">
        <ul class="legend">
          {memory.curves.map((one, index) => (
            <li>
              <span class={`swatch key c${index % LINES}${one.device ? " device" : ""}`} aria-hidden="true" />
              {one.name}
            </li>
          ))}
        </ul>
      </div>
      <Table
        caption="Memory of each process"
        head={["process", "at first", "peak", "at last"]}
        rows={memory.curves.map((one) => [one.name, ...one.cells])}
        quiet
      />
      {memory.note ? <p class="note">{memory.note}.</p> : null}
    </Section>
  );
}
