// The wall clock as one bar, and the same in figures.
import { percent, Scrolling, Section, Swatch, tinted } from "./parts";
import type { Report } from "./payload";

export function LedgerSection({ ledger }: { ledger: Report["ledger"] }) {
  const spoken = ledger.rows.map((row) => `${row.name} ${row.percent}`).join(", ");
  const longest = Math.max(...ledger.rows.map((row) => row.share), 0.0001);
  return (
    <Section id="ledger" title="Where the time went" note={`${ledger.of}; the parts add up to ${ledger.wall}.`}>
      <div class="stacked" role="img" aria-label={`${ledger.wall}: ${spoken}`}>
        {ledger.rows.map((row) => (
          <span class={tinted(row.tint)} style={{ flexGrow: row.share }} title={`${row.name}: ${row.time}, ${row.percent}`} />
        ))}
      </div>
      <Scrolling label="Ledger">
        <table class="ledger">
          <caption class="unseen">Every part of the wall clock</caption>
          <thead>
            <tr>
              <th scope="col" class="text">
                phase
              </th>
              <th scope="col" class="figure">
                time
              </th>
              <th scope="col" class="figure">
                share
              </th>
              <th scope="col" class="bars">
                <span class="unseen">share as a bar</span>
              </th>
              <th scope="col" class="figure">
                calls
              </th>
              <th scope="col" class="figure">
                per env step
              </th>
            </tr>
          </thead>
          <tbody>
            {ledger.rows.map((row) => (
              <tr>
                <th scope="row" class="text">
                  <Swatch tint={row.tint} />
                  {row.name}
                </th>
                <td class="figure">{row.time}</td>
                <td class="figure">{row.percent}</td>
                <td class="bars">
                  <span class={`bar ${tinted(row.tint)}`} style={{ width: percent(row.share / longest) }} />
                </td>
                <td class="figure">{row.calls}</td>
                <td class="figure">{row.perStep}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolling>
    </Section>
  );
}
