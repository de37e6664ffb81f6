// Phases over time with the speed above them. The chart is read like a slider: each moment can be asked for.
import { useMemo, useRef, useState } from "preact/hooks";
import { stacked, steps, WIDTH } from "./areas";
import { HeightAxis, percent, Section, Swatch, Table, TimeAxis, tinted } from "./parts";
import type { Course } from "./payload";

const SPEED = 90;
const SHARES = 220;

export function CourseSection({ course }: { course: Course }) {
  const [moment, setMoment] = useState<number | null>(null);
  const outlines = useMemo(() => stacked(course.edges, course.series.map((one) => one.shares), SHARES), [course]);
  const columns = course.regimes.some((regime) => regime.cells[4]) ? 5 : 4;
  const said = moment === null ? "Point at a moment, or use the arrow keys." : (course.moments[moment] ?? "");
  return (
    <Section id="course" title="Over time" note="The main process in the course of the run: what each moment consisted of.">
      <figure class="course">
        {course.regimes.length > 0 ? <Regimes regimes={course.regimes} /> : null}
        <Cursor course={course} moment={moment} choose={setMoment}>
          {course.speed ? (
            <div class="panel" style={{ height: `${SPEED}px` }}>
              <HeightAxis ticks={course.speed.ticks.filter((tick) => tick.at > 0)} />
              <svg viewBox={`0 0 ${WIDTH} ${SPEED}`} preserveAspectRatio="none" aria-hidden="true">
                <path class="speed" d={steps(course.edges, course.speed.values, SPEED)} />
              </svg>
              <span class="panel-title">steps/s</span>
            </div>
          ) : null}
          <div class="panel" style={{ height: `${SHARES}px` }}>
            <HeightAxis
              ticks={[
                { at: 0, label: "0%" },
                { at: 0.5, label: "50%" },
                { at: 1, label: "100%" },
              ]}
            />
            <svg viewBox={`0 0 ${WIDTH} ${SHARES}`} preserveAspectRatio="none" aria-hidden="true">
              {course.series.map((one, index) => (
                <path class={tinted(one.tint)} d={outlines[index] ?? ""} />
              ))}
            </svg>
          </div>
        </Cursor>
        <TimeAxis ticks={course.ticks} />
        <p class="readout" aria-hidden="true">
          {said}
        </p>
        <figcaption>
          <ul class="legend">
            {course.series.map((one) => (
              <li>
                <Swatch tint={one.tint} />
                {one.name}
              </li>
            ))}
          </ul>
        </figcaption>
      </figure>
      {course.regimes.length > 0 ? (
        <Table
          caption="Regimes: where the speed changed, and what changed with it"
          head={["from", "to", "regime", "speed", "because of"].slice(0, columns)}
          rows={course.regimes.map((regime) => regime.cells.slice(0, columns))}
          texts={[2, 4]}
        />
      ) : null}
    </Section>
  );
}

function Regimes({ regimes }: { regimes: Course["regimes"] }) {
  return (
    <div class="regimes" aria-hidden="true">
      {regimes.map((regime) => (
        <span
          class={`regime ${regime.label}`}
          style={{ left: percent(regime.from), width: percent(Math.max(regime.to - regime.from, 0)) }}
          title={regime.cells.join(", ")}
        >
          {regime.label}
        </span>
      ))}
    </div>
  );
}

interface CursorProps {
  course: Course;
  moment: number | null;
  choose: (moment: number | null) => void;
  children: preact.ComponentChildren;
}

function Cursor({ course, moment, choose, children }: CursorProps) {
  const box = useRef<HTMLDivElement>(null);
  const last = course.moments.length - 1;
  const pointed = (event: PointerEvent) => {
    const place = box.current?.getBoundingClientRect();
    if (place !== undefined && place.width > 0) {
      const at = (event.clientX - place.left) / place.width;
      const next = course.edges.findIndex((edge) => edge > at);
      choose(next < 0 ? last : Math.min(Math.max(next - 1, 0), last));
    }
  };
  const pressed = (event: KeyboardEvent) => {
    const now = moment ?? -1;
    const moves: Record<string, number> = {
      ArrowRight: now + 1,
      ArrowUp: now + 1,
      ArrowLeft: now - 1,
      ArrowDown: now - 1,
      PageUp: now + 10,
      PageDown: now - 10,
      Home: 0,
      End: last,
    };
    const to = moves[event.key];
    if (to !== undefined) {
      event.preventDefault();
      choose(Math.min(Math.max(to, 0), last));
    }
  };
  return (
    <div
      ref={box}
      class="cursor"
      role="slider"
      tabIndex={0}
      aria-label="Moment of the run"
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={moment ?? 0}
      aria-valuetext={course.moments[moment ?? 0]}
      onPointerMove={pointed}
      onPointerLeave={() => choose(null)}
      onKeyDown={pressed}
    >
      {children}
      {moment === null ? null : (
        <span
          class="hair"
          style={{
            left: percent(course.edges[moment] ?? 0),
            width: percent((course.edges[moment + 1] ?? 1) - (course.edges[moment] ?? 0)),
          }}
        />
      )}
    </div>
  );
}
