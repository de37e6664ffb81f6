// The verdict, then what to do about it.
import { Prose, Section, Source, Table } from "./parts";
import type { Excerpt, Finding, Report } from "./payload";

export function FindingsSection({ report }: { report: Report }) {
  return (
    <Section id="findings" title="Findings">
      {report.verdict ? <p class="verdict"><Prose text={report.verdict} /></p> : null}
      {report.findings.length > 0 ? (
        <ol class="findings">
          {report.findings.map((finding) => (
            <li>
              <OneFinding finding={finding} excerpts={report.excerpts} />
            </li>
          ))}
        </ol>
      ) : (
        <p class="note">No rule found anything to cure in this run.</p>
      )}
    </Section>
  );
}

function OneFinding({ finding, excerpts }: { finding: Finding; excerpts: Excerpt[] }) {
  return (
    <article class={`finding ${finding.severity}`}>
      <header class="claim">
        <span class={`severity ${finding.severity}`}>{finding.severity}</span>
        <h3>
          <Prose text={finding.title} />
        </h3>
        <span class="gain">{finding.gain}</span>
      </header>
      <dl class="about">
        {finding.where.length > 0 ? (
          <>
            <dt>Where</dt>
            <dd>
              {finding.where.map((where) => (
                <Place where={where} excerpts={excerpts} />
              ))}
            </dd>
          </>
        ) : null}
        <dt>Cure</dt>
        <dd>
          <Prose text={finding.cure} />
        </dd>
        <dt>Learning</dt>
        <dd>{finding.learning}</dd>
        <dt>Verify</dt>
        <dd>
          <code class="command">{finding.verify}</code>
        </dd>
      </dl>
      <details>
        <summary>
          Evidence <span class="beside">rule {finding.rule}</span>
        </summary>
        {finding.evidence.map((table) => (
          <Table caption={table.title || "Figures that the rule decided by"} head={table.head} rows={table.rows} texts={[0]} />
        ))}
        <p class="note">
          <code>rlprof explain {finding.rule}</code> says when this rule speaks, and its traps.
        </p>
      </details>
    </article>
  );
}

function Place({ where, excerpts }: { where: Finding["where"][number]; excerpts: Excerpt[] }) {
  const named = (
    <>
      <code>{where.place}</code> <span class="beside">{where.function}</span>
    </>
  );
  if (where.excerpt === null) {
    return <div>{named}</div>;
  }
  return (
    <details class="place">
      <summary>{named}</summary>
      <Source excerpt={excerpts[where.excerpt]} place={where.place} />
    </details>
  );
}
