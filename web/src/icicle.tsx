// Boxes below boxes. A click, or Enter, makes a box as wide as the page; the arrow keys walk from box to box.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { percent, TimeAxis, tinted } from "./parts";
import type { Boxes, Tick } from "./payload";

const ROW = 22;
/** Narrower than this part of the view, a box can be neither read nor hit. */
const NARROWEST = 0.0016;

interface IcicleProps {
  boxes: Boxes;
  label: string;
  hidden?: Set<number>;
  ticks?: Tick[];
}

interface Drawn {
  box: number;
  left: number;
  width: number;
  above: boolean;
}

export function Icicle({ boxes, label, hidden, ticks }: IcicleProps) {
  const [zoomed, setZoomed] = useState(-1);
  const [current, setCurrent] = useState(-1);
  const [pointed, setPointed] = useState(-1);
  const field = useRef<HTMLDivElement>(null);
  const wanted = useRef(false);
  useEffect(() => {
    setZoomed(-1);
    setCurrent(-1);
    setPointed(-1);
  }, [boxes]);
  const drawn = useMemo(() => visible(boxes, zoomed, hidden), [boxes, zoomed, hidden]);
  const shown = new Set(drawn.map((one) => one.box));
  const tabbable = shown.has(current) ? current : (drawn[0]?.box ?? -1);
  useEffect(() => {
    if (wanted.current) {
      wanted.current = false;
      field.current?.querySelector<HTMLElement>(`[data-box="${tabbable}"]`)?.focus();
    }
  });
  const zoom = (box: number) => {
    const next = box === zoomed || isTop(boxes, box) ? -1 : box;
    wanted.current = field.current?.contains(document.activeElement) ?? false;
    setZoomed(next);
    setCurrent(box);
  };
  const pressed = (event: KeyboardEvent) => {
    // What has the focus counts, not what was drawn last: keys may come faster than drawings.
    const here = Number((event.target as HTMLElement).dataset["box"] ?? tabbable);
    if (event.key === "Escape") {
      zoom(zoomed);
      return;
    }
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      zoom(here);
      return;
    }
    const to = neighbour(boxes, drawn, here, event.key);
    if (to !== null) {
      event.preventDefault();
      field.current?.querySelector<HTMLElement>(`[data-box="${to}"]`)?.focus();
    }
  };
  const told = pointed >= 0 ? pointed : current >= 0 ? current : zoomed;
  const depth = drawn.reduce((deepest, one) => Math.max(deepest, boxes.depth[one.box] ?? 0), 0);
  return (
    <figure class="icicle">
      <div class="field" tabIndex={-1}>
        <div
          ref={field}
          class="boxes"
          role="tree"
          aria-label={label}
          style={{ height: `${(depth + 1) * ROW}px` }}
          onKeyDown={pressed}
          onPointerLeave={() => setPointed(-1)}
        >
          {drawn.map((one) => (
            <Box
              key={one.box}
              boxes={boxes}
              drawn={one}
              tabbable={one.box === tabbable}
              zoomed={one.box === zoomed}
              zoom={zoom}
              point={setPointed}
              focus={setCurrent}
            />
          ))}
        </div>
      </div>
      {ticks && zoomed < 0 ? <TimeAxis ticks={ticks} /> : null}
      <p class="readout" aria-live="off">
        {told >= 0 ? (
          <>
            <strong>{nameOf(boxes, told)}</strong> {textOf(boxes, told)}
          </>
        ) : (
          "Click a box, or press Enter on it, to zoom in; once more, or Escape, to zoom out. Arrow keys move."
        )}
        {zoomed >= 0 ? (
          <button type="button" onClick={() => zoom(zoomed)}>
            Zoom out
          </button>
        ) : null}
      </p>
    </figure>
  );
}

interface BoxProps {
  boxes: Boxes;
  drawn: Drawn;
  tabbable: boolean;
  zoomed: boolean;
  zoom: (box: number) => void;
  point: (box: number) => void;
  focus: (box: number) => void;
}

function Box({ boxes, drawn, tabbable, zoomed, zoom, point, focus }: BoxProps) {
  const { box } = drawn;
  const tint = boxes.tints[boxes.tint[box] ?? 0] ?? { hue: "other", shade: 0 };
  const name = nameOf(boxes, box);
  return (
    <div
      class={`box ${tinted(tint)}${drawn.above ? " above" : ""}${zoomed ? " zoomed" : ""}`}
      role="treeitem"
      data-box={box}
      aria-level={(boxes.depth[box] ?? 0) + 1}
      aria-label={`${name}, ${textOf(boxes, box)}`}
      aria-selected={zoomed}
      tabIndex={tabbable ? 0 : -1}
      style={{ left: percent(drawn.left), width: percent(drawn.width), top: `${(boxes.depth[box] ?? 0) * ROW}px` }}
      onClick={() => zoom(box)}
      onPointerEnter={() => point(box)}
      onFocus={() => focus(box)}
    >
      {drawn.width > 0.02 ? name : ""}
    </div>
  );
}

function nameOf(boxes: Boxes, box: number): string {
  return boxes.names[boxes.name[box] ?? -1] ?? "";
}

function textOf(boxes: Boxes, box: number): string {
  return (boxes.text[box] ?? []).map((piece) => boxes.pieces[piece] ?? "").join(", ");
}

function isTop(boxes: Boxes, box: number): boolean {
  return box >= 0 && boxes.parent[box] === -1 && (boxes.to[box] ?? 0) - (boxes.from[box] ?? 0) > 0.999 * boxes.scale;
}

/** What there is room for: the box that is zoomed in on, what is above it, and what is below. */
function visible(boxes: Boxes, zoomed: number, hidden: Set<number> | undefined): Drawn[] {
  const left = zoomed >= 0 ? (boxes.from[zoomed] ?? 0) : 0;
  const right = zoomed >= 0 ? (boxes.to[zoomed] ?? 1) : boxes.scale;
  const span = Math.max(right - left, 1);
  const above = new Set<number>();
  for (let box = zoomed >= 0 ? (boxes.parent[zoomed] ?? -1) : -1; box >= 0; box = boxes.parent[box] ?? -1) {
    above.add(box);
  }
  const drawn: Drawn[] = [];
  const level = zoomed >= 0 ? (boxes.depth[zoomed] ?? 0) : 0;
  boxes.from.forEach((from, box) => {
    if (above.has(box)) {
      drawn.push({ box, left: 0, width: 1, above: true });
      return;
    }
    const to = boxes.to[box] ?? from;
    const inside = from >= left && to <= right && (boxes.depth[box] ?? 0) >= level;
    const width = (to - from) / span;
    if (inside && width >= NARROWEST && !hidden?.has(box)) {
      drawn.push({ box, left: (from - left) / span, width, above: false });
    }
  });
  return drawn;
}

/** The box that an arrow key leads to, among those that are drawn; null where the key means nothing. */
function neighbour(boxes: Boxes, drawn: Drawn[], box: number, key: string): number | null {
  const shown = drawn.map((one) => one.box);
  if (key === "ArrowUp") {
    const parent = boxes.parent[box] ?? -1;
    return parent >= 0 ? parent : box;
  }
  if (key === "ArrowDown") {
    return shown.find((other) => boxes.parent[other] === box) ?? box;
  }
  if (key === "ArrowRight" || key === "ArrowLeft") {
    const row = shown.filter((other) => boxes.depth[other] === boxes.depth[box]);
    row.sort((one, other) => (boxes.from[one] ?? 0) - (boxes.from[other] ?? 0));
    return row[row.indexOf(box) + (key === "ArrowRight" ? 1 : -1)] ?? box;
  }
  return key === "Home" ? (shown[0] ?? box) : null;
}
