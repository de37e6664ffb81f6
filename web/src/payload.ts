// What Python hands over: texts that are shown as they are, and numbers between 0 and 1 that say where to draw.
// Nothing is computed from them here but places on the screen.

export interface Tint {
  hue: string;
  shade: number;
}

export interface Tick {
  at: number;
  label: string;
}

export interface Excerpt {
  first: number;
  line: number;
  lines: string[];
}

export interface EvidenceTable {
  title: string;
  head: string[];
  rows: string[][];
}

export interface Finding {
  rule: string;
  severity: "critical" | "warning" | "info";
  title: string;
  where: { place: string; function: string; excerpt: number | null }[];
  gain: string;
  cure: string;
  learning: string;
  verify: string;
  evidence: EvidenceTable[];
}

export interface LedgerRow {
  name: string;
  tint: Tint;
  share: number;
  time: string;
  percent: string;
  calls: string;
  perStep: string;
}

export interface Course {
  edges: number[];
  series: { name: string; tint: Tint; shares: number[] }[];
  speed: { values: number[]; ticks: Tick[] } | null;
  ticks: Tick[];
  regimes: { from: number; to: number; label: string; cells: string[] }[];
  moments: string[];
}

/** Boxes in columns: `name`, `tint` and `text` are numbers into `names`, `tints` and `pieces`, `parent` is -1 for an outermost
 * box; `from` and `to` are whole numbers up to `scale`. */
export interface Boxes {
  scale: number;
  names: string[];
  pieces: string[];
  tints: Tint[];
  name: number[];
  tint: number[];
  parent: number[];
  depth: number[];
  from: number[];
  to: number[];
  text: number[][];
}

export interface Tree {
  title: string;
  hidden: string;
  boxes: Boxes;
  functions: number[];
}

export interface OperationRow {
  path: string[];
  phase: string;
  tint: Tint;
  where: string;
  labels: string[];
  open: boolean;
  cells: string[];
  values: (number | null)[];
}

export interface Operations {
  head: string[];
  rows: OperationRow[];
  several: boolean;
  leftOut: number;
}

export interface CodeLine {
  place: string;
  file: string;
  function: string;
  own: boolean;
  time: string;
  margin: string;
  percent: string;
  share: number;
  samples: string;
  calling: [string, string, string][];
  excerpt: number | null;
}

export interface CodePart {
  name: string;
  tint: Tint;
  time: string;
  percent: string;
  samples: string;
  lines: CodeLine[];
  rest: [string, string][];
}

export interface Lanes {
  edges: number[];
  states: string[];
  lanes: { name: string; cells: string[]; shares: Record<string, number[]> }[];
  ticks: Tick[];
  note: string;
}

export interface VectorEnv {
  title: string;
  parts: { name: string; note: string; share: number; percent: string; time: string }[];
  error: string;
  facts: string[];
  head: string[];
  rows: string[][];
}

export interface Memory {
  curves: { name: string; device: boolean; x: number[]; y: number[]; cells: string[] }[];
  ticks: Tick[];
  heights: Tick[];
  note: string;
}

export interface Projection {
  label: string;
  ratio: string;
  interval: string;
  at: number;
  low: number;
  high: number;
}

export interface WhatIf {
  phase: string;
  tint: Tint;
  points: Projection[];
}

export interface SlowIteration {
  cells: string[];
  boxes: Boxes | null;
  ticks: Tick[];
  note: string;
}

export interface Windows {
  entries: { said: string; files: string }[];
  note: string;
  operators: { phase: string; tint: Tint; calls: string; time: string; percent: string; head: string[]; rows: string[][] }[];
}

export interface Device {
  busy: number;
  said: string;
  tables: EvidenceTable[];
}

export interface Rollout {
  title: string;
  rows: { name: string; depth: number; time: string; percent: string; share: number }[];
}

export interface Speed {
  cells: string[];
  source: string;
  flagged: boolean;
}

export interface Warning {
  code: string;
  message: string;
  remedy: string;
}

export interface Head {
  command: string;
  status: string;
  ending: string;
  facts: string[];
  figures: { name: string; value: string; note: string }[];
  recording: string;
  treated: string[];
}

export interface Report {
  kind: "report";
  head: Head;
  verdict: string;
  findings: Finding[];
  ledger: { rows: LedgerRow[]; wall: string; of: string };
  course: Course | null;
  rollouts: Rollout[];
  speeds: Speed[];
  trees: Tree[];
  operations: Operations;
  drilldown: { parts: CodePart[]; notes: string[]; sampled: boolean };
  lanes: Lanes | null;
  vectorEnvs: VectorEnv[];
  memory: Memory | null;
  windows: Windows | null;
  device: Device | null;
  whatif: WhatIf[];
  iterations: SlowIteration[];
  trust: { warnings: Warning[]; notes: string[]; losses: string[]; inferred: string[] };
  excerpts: Excerpt[];
}

export interface Measured {
  change: string;
  interval: string;
  at: number | null;
  low: number | null;
  high: number | null;
}

export interface ComparedRow extends Measured {
  a: string;
  b: string;
  saved: string;
  verdict: string;
  said: string;
}

export interface Comparison {
  kind: "comparison";
  headline: string;
  verdict: string;
  explanation: string[];
  pairs: string;
  sides: { letter: string; name: string; recordings: string[] }[];
  per: string;
  overall: Measured;
  phases: (ComparedRow & { name: string; tint: Tint; lengthA: number; lengthB: number })[];
  operations: (ComparedRow & { path: string[]; values: (number | null)[] })[];
  memory: string;
  notes: { title: string; lines: string[] }[];
  warnings: Warning[];
}

export type Payload = Report | Comparison;
