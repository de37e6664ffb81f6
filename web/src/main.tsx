import { render } from "preact";
import { ComparisonPage } from "./comparison";
import type { Payload } from "./payload";
import { ReportPage } from "./report";
import { prepareTheme } from "./shell";

function start(): void {
  prepareTheme();
  const root = document.getElementById("page");
  const data = document.getElementById("payload");
  if (root === null || data === null) {
    return;
  }
  const payload = JSON.parse(data.textContent ?? "") as Payload;
  root.replaceChildren();
  render(payload.kind === "report" ? <ReportPage report={payload} /> : <ComparisonPage found={payload} />, root);
  performance.mark("rlprof-drawn"); // benchmarks/html_report.py asks for it
}

start();
