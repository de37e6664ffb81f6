// The report from top to bottom: what to do first, then where the time went, then everything that shows why.
import { CodeSection } from "./code";
import { CourseSection } from "./course";
import { DeviceSection } from "./device";
import { FindingsSection } from "./findings";
import { IterationsSection } from "./iterations";
import { LanesSection } from "./lanes";
import { LedgerSection } from "./ledger";
import { MemorySection } from "./memory";
import { OperationsSection } from "./operations";
import { Prose, Section, Warnings } from "./parts";
import type { Head, Report } from "./payload";
import { RolloutsSection } from "./rollouts";
import { Shell } from "./shell";
import { TreeSection } from "./tree";
import { WhatIfSection } from "./whatif";
import { WindowsSection } from "./windows";

export function ReportPage({ report }: { report: Report }) {
  const sections = [
    { id: "findings", title: "Findings", drawn: <FindingsSection report={report} /> },
    { id: "ledger", title: "Where the time went", drawn: <LedgerSection ledger={report.ledger} /> },
    report.course && { id: "course", title: "Over time", drawn: <CourseSection course={report.course} /> },
    report.rollouts.length + report.speeds.length > 0 && {
      id: "rollouts",
      title: report.rollouts.length > 0 ? "Rollouts" : "Expected speed",
      drawn: <RolloutsSection rollouts={report.rollouts} speeds={report.speeds} />,
    },
    report.trees.length > 0 && { id: "tree", title: "Call tree", drawn: <TreeSection trees={report.trees} /> },
    { id: "operations", title: "Operations", drawn: <OperationsSection operations={report.operations} /> },
    { id: "code", title: "Functions and lines", drawn: <CodeSection report={report} /> },
    report.lanes && { id: "lanes", title: "Processes", drawn: <LanesSection report={report} lanes={report.lanes} /> },
    report.memory && { id: "memory", title: "Memory", drawn: <MemorySection memory={report.memory} /> },
    report.windows && { id: "windows", title: "Windows", drawn: <WindowsSection windows={report.windows} /> },
    report.device && { id: "device", title: "Device", drawn: <DeviceSection device={report.device} /> },
    report.whatif.length > 0 && { id: "whatif", title: "What if", drawn: <WhatIfSection rows={report.whatif} /> },
    report.iterations.length > 0 && {
      id: "iterations",
      title: "Slowest iterations",
      drawn: <IterationsSection iterations={report.iterations} />,
    },
    { id: "trust", title: "What to doubt", drawn: <TrustSection trust={report.trust} /> },
  ].filter((section) => section !== false && section !== null);
  return (
    <Shell
      title={report.head.command}
      above={<RunHead head={report.head} />}
      entries={sections}
      foot={
        <>
          <p>
            Recording: <code>{report.head.recording}</code>
          </p>
          <p class="note">
            Every figure was computed from the recording when this file was made. The file asks nothing of the network.
          </p>
        </>
      }
    >
      {sections.map((section) => section.drawn)}
    </Shell>
  );
}

function RunHead({ head }: { head: Head }) {
  return (
    <>
      <p class="facts">
        <span class={`status status-${head.status}`}>{head.ending}</span>
        {head.facts.map((fact) => (
          <span>{fact}</span>
        ))}
      </p>
      {head.treated.map((line) => (
        <p class="treated">{line}</p>
      ))}
      <dl class="figures">
        {head.figures.map((figure) => (
          <div>
            <dt>{figure.name}</dt>
            <dd>
              <strong>{figure.value}</strong>
              <span class="beside">{figure.note}</span>
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function TrustSection({ trust }: { trust: Report["trust"] }) {
  return (
    <Section id="trust" title="What to doubt">
      {trust.warnings.length > 0 ? <Warnings warnings={trust.warnings} /> : <p>No warnings.</p>}
      <p>
        <strong>Losses:</strong> {trust.losses.length > 0 ? trust.losses.join(", ") : "none"}
      </p>
      {trust.inferred.length > 0 ? (
        <>
          <h3>Inferred by shape and use</h3>
          <ul>
            {trust.inferred.map((item) => (
              <li>{item}</li>
            ))}
          </ul>
        </>
      ) : null}
      {trust.notes.length > 0 ? (
        <ul class="note">
          {trust.notes.map((text) => (
            <li>
              <Prose text={text} />
            </li>
          ))}
        </ul>
      ) : null}
    </Section>
  );
}
