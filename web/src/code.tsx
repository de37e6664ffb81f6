// Each part of the ledger down to the lines that it went to, with their source.
import { percent, Section, Source, Swatch, tinted } from "./parts";
import type { CodeLine, CodePart, Excerpt, Report } from "./payload";

export function CodeSection({ report }: { report: Report }) {
  const { parts, notes, sampled } = report.drilldown;
  return (
    <Section
      id="code"
      title="Functions and lines"
      note={sampled ? "From stack samples; ± is the 95% interval. A line holds the time of the libraries it calls." : ""}
    >
      {parts.map((part, index) => (
        <Part part={part} excerpts={report.excerpts} open={index === 0} />
      ))}
      {parts.length === 0 ? (
        <p class="note">No stack was sampled in this run: record with --sampler-hz above 0 to see lines.</p>
      ) : null}
      {notes.map((text) => (
        <p class="note">{text}</p>
      ))}
    </Section>
  );
}

function Part({ part, excerpts, open }: { part: CodePart; excerpts: Excerpt[]; open: boolean }) {
  return (
    <details class="part" open={open}>
      <summary>
        <Swatch tint={part.tint} />
        <span class="grow">{part.name}</span>
        <span class="figure">{part.time}</span>
        <span class="figure">{part.percent}</span>
        <span class="beside wide">{part.samples}</span>
      </summary>
      <ul class="lines">
        {part.lines.map((line) => (
          <Line line={line} part={part} excerpts={excerpts} />
        ))}
        {part.rest.map(([name, time]) => (
          <li class="line beside">
            <span class="grow">{name}</span>
            <span class="figure">{time}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

function Line({ line, part, excerpts }: { line: CodeLine; part: CodePart; excerpts: Excerpt[] }) {
  const inside = line.excerpt !== null || line.calling.length > 0;
  const row = (
    <>
      <span class="grow">
        <code class={line.own ? "own" : ""} title={line.file}>
          {line.place}
        </code>{" "}
        <span class="beside">{line.function}</span>
      </span>
      <span class="figure">{line.time}</span>
      <span class="figure beside wide">± {line.margin}</span>
      <span class="figure">{line.percent}</span>
      <span class="meter" aria-hidden="true">
        <span class={`bar ${tinted(part.tint)}`} style={{ width: percent(line.share) }} />
      </span>
    </>
  );
  if (!inside) {
    return <li class="line">{row}</li>;
  }
  return (
    <li>
      <details>
        <summary class="line">{row}</summary>
        <div class="inside">
          {line.excerpt !== null ? <Source excerpt={excerpts[line.excerpt]} place={line.place} /> : null}
          {line.calling.length > 0 ? (
            <ul class="calling">
              {line.calling.map(([name, place, time]) => (
                <li>
                  in <code>{name}</code> <span class="beside">{place}</span> <span class="figure">{time}</span>
                </li>
              ))}
            </ul>
          ) : null}
        </div>
      </details>
    </li>
  );
}
