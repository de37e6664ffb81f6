// Small pieces that several sections are made of.
import type { ComponentChildren } from "preact";
import type { Excerpt, Tick, Tint, Warning } from "./payload";

export function percent(part: number): string {
  return `${part * 100}%`;
}

export function tinted(tint: Tint): string {
  return `tint h-${tint.hue} s${tint.shade}`;
}

export function Swatch({ tint }: { tint: Tint }) {
  return <span class={`swatch ${tinted(tint)}`} aria-hidden="true" />;
}

interface SectionProps {
  id: string;
  title: string;
  note?: string;
  children: ComponentChildren;
}

export function Section({ id, title, note, children }: SectionProps) {
  return (
    <section id={id} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      {note ? <p class="note">{note}</p> : null}
      {children}
    </section>
  );
}

/** What is wider than the screen scrolls inside of this, by keyboard, too, and never the page. */
export function Scrolling({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="scrolling" role="group" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}

interface TableProps {
  caption: string;
  head: string[];
  rows: string[][];
  /** Columns of text; all others are figures. */
  texts?: number[];
  quiet?: boolean;
  /** Long names go on in the next line. */
  wrap?: boolean;
}

export function Table({ caption, head, rows, texts = [0], quiet = false, wrap = false }: TableProps) {
  const kind = (column: number) => (texts.includes(column) ? "text" : "figure");
  return (
    <Scrolling label={caption}>
      <table class={wrap ? "small wrap" : "small"}>
        <caption class={quiet ? "unseen" : ""}>{caption}</caption>
        {head.length > 0 ? (
          <thead>
            <tr>
              {head.map((title, column) => (
                <th scope="col" class={kind(column)}>
                  {title || <span class="unseen">what</span>}
                </th>
              ))}
            </tr>
          </thead>
        ) : null}
        <tbody>
          {rows.map((cells) => (
            <tr>
              {cells.map((cell, column) =>
                column === 0 ? (
                  <th scope="row" class={kind(0)}>
                    {cell}
                  </th>
                ) : (
                  <td class={kind(column)}>{cell}</td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolling>
  );
}

export function Source({ excerpt, place }: { excerpt: Excerpt | undefined; place: string }) {
  if (excerpt === undefined) {
    return null;
  }
  return (
    <pre class="source" tabIndex={0} aria-label={`Source around ${place}`}>
      {excerpt.lines.map((line, index) => {
        const number = excerpt.first + index;
        return (
          <span class={number === excerpt.line ? "meant" : ""}>
            <span class="number" aria-hidden="true">
              {number}
            </span>
            {`${line}\n`}
          </span>
        );
      })}
    </pre>
  );
}

export function TimeAxis({ ticks }: { ticks: Tick[] }) {
  return (
    <div class="time-axis" aria-hidden="true">
      {ticks.map((tick) => (
        <span class={tick.at > 0.93 ? "last" : tick.at === 0 ? "first" : ""} style={{ left: percent(tick.at) }}>
          {tick.label}
        </span>
      ))}
    </div>
  );
}

export function HeightAxis({ ticks }: { ticks: Tick[] }) {
  return (
    <div class="height-axis" aria-hidden="true">
      {ticks.map((tick) => (
        <span style={{ bottom: percent(tick.at) }}>
          <span>{tick.label}</span>
        </span>
      ))}
    </div>
  );
}

/** A sentence in which names stand between backticks. */
export function Prose({ text }: { text: string }) {
  return (
    <>
      {text.split("`").map((piece, index) => (index % 2 === 1 ? <code>{piece}</code> : piece))}
    </>
  );
}

export function Warnings({ warnings }: { warnings: Warning[] }) {
  return (
    <ul class="warnings">
      {warnings.map((warning) => (
        <li>
          <strong>{warning.code}</strong>: <Prose text={warning.message} />
          {warning.remedy ? (
            <div class="remedy">
              Remedy: <Prose text={warning.remedy} />
            </div>
          ) : null}
        </li>
      ))}
    </ul>
  );
}
