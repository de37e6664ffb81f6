// Draws what rlprof says once a second. It sets names as text, never as markup, and computes no figures.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 1000;
const HEIGHT = 100;
const EVERY_MS = 1000;
const RETRY_MS = 3000;

const part = (id) => document.getElementById(id);
let latest = null;
let lookingBack = false; // the person has moved the slider away from the newest moment

function say(id, text) {
  const place = part(id);
  if (place.textContent !== text) place.textContent = text;
}

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function shape(name, className, attributes) {
  const made = document.createElementNS(SVG, name);
  made.setAttribute("class", className);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// As `say`, with what stands between backquotes as code.
function sayMarked(id, text) {
  const pieces = text.split("`").map((piece, i) => (i % 2 ? element("code", piece) : piece));
  part(id).replaceChildren(...pieces);
}

function across(at) {
  const end = at[at.length - 1];
  return at.map((moment) => (moment / end) * WIDTH);
}

function points(xs, ys) {
  return xs.map((x, i) => `${x.toFixed(1)},${ys[i].toFixed(2)}`).join(" ");
}

function cursor(x) {
  return shape("line", "cursor", { x1: x, x2: x, y1: 0, y2: HEIGHT });
}

function drawLine(id, line, at, chosen) {
  part(`${id}-none`).hidden = line !== null;
  part(id).parentElement.hidden = line === null;
  if (line === null) return;
  const known = line.values.map((value, i) => i).filter((i) => line.values[i] !== null);
  const xs = across(at);
  const kept = known.map((i) => xs[i]);
  const ys = known.map((i) => HEIGHT - (line.values[i] / line.top) * HEIGHT);
  const outline = points(kept, ys);
  const ground = `${kept[0].toFixed(1)},${HEIGHT} ${outline} ${kept[kept.length - 1].toFixed(1)},${HEIGHT}`;
  part(id).replaceChildren(
    shape("polygon", "below", { points: ground }),
    shape("polyline", "line", { points: outline }),
    cursor(xs[chosen]),
  );
  say(`${id}-top`, line.topSaid);
  say(`${id}-said`, line.said[chosen]);
}

function drawShares(phases, at, chosen) {
  const xs = across(at);
  let below = at.map(() => HEIGHT);
  const areas = phases.map((phase) => {
    const above = below.map((y, i) => y - phase.shares[i] * HEIGHT);
    const back = points([...xs].reverse(), [...below].reverse());
    const area = shape("polygon", `area ${phase.colour}`, { points: `${points(xs, above)} ${back}` });
    below = above;
    return area;
  });
  part("shares").replaceChildren(...areas, cursor(xs[chosen]));
}

function drawPhases(phases, chosen) {
  const rows = [...phases].reverse().map((phase) => {
    const row = element("tr");
    const name = element("th");
    name.scope = "row";
    name.append(element("span", undefined, `swatch ${phase.colour}`), element("span", phase.name));
    row.append(name, element("td", phase.said[chosen]), element("td", phase.now), element("td", phase.whole));
    return row;
  });
  part("phases").replaceChildren(...rows);
}

function drawFigures(figures) {
  const boxes = figures.map((figure) => {
    const box = element("div");
    box.append(element("dt", figure.name), element("dd", figure.value));
    return box;
  });
  part("figures").replaceChildren(...boxes);
}

function drawAdvice(advice) {
  sayMarked("verdict", advice.verdict);
  say("more", advice.more);
  part("finding").hidden = advice.finding === null;
  if (advice.finding === null) return;
  for (const id of ["severity", "gain", "where"]) say(id, advice.finding[id]);
  for (const id of ["title", "cure"]) sayMarked(id, advice.finding[id]);
  part("severity").className = advice.finding.severity;
}

function draw(state) {
  say("command", state.command);
  say("status", state.status);
  part("status").className = `status ${state.status}`;
  say("took", state.took);
  say("note", state.ending);
  document.title = `${state.figures.length ? state.figures[0].value : state.status} – rlprof`;
  drawFigures(state.figures);
  drawAdvice(state.advice);
  const last = state.times.length - 1;
  part("speed-head").closest("main").hidden = false;
  if (last < 0) return;
  const back = part("back");
  back.max = last;
  if (!lookingBack) back.value = last;
  drawMoment();
}

function drawMoment() {
  if (latest === null || latest.times.length === 0) return;
  const chosen = Math.min(Number(part("back").value), latest.times.length - 1);
  const when = latest.times[chosen];
  say("back-said", chosen === latest.times.length - 1 ? `${when}, the newest` : when);
  say("then", `at ${when}`);
  part("back").setAttribute("aria-valuetext", when);
  for (const end of document.querySelectorAll(".axis .end")) end.textContent = latest.times[latest.times.length - 1];
  drawLine("speed", latest.charts.speed, latest.charts.at, chosen);
  drawLine("memory", latest.charts.memory, latest.charts.at, chosen);
  drawShares(latest.phases, latest.charts.at, chosen);
  drawPhases(latest.phases, chosen);
}

part("back").addEventListener("input", () => {
  lookingBack = Number(part("back").value) < Number(part("back").max);
  drawMoment();
});

async function poll() {
  let pause = EVERY_MS;
  try {
    const answer = await fetch("state.json", { cache: "no-store" });
    if (!answer.ok) throw new Error(await answer.text());
    latest = await answer.json();
    draw(latest);
    if (!latest.goesOn) return;
  } catch (error) {
    say("note", latest === null ? `No figures yet: ${error.message}` : "rlprof watch does not answer; this is what it said last.");
    pause = RETRY_MS;
  }
  setTimeout(poll, pause);
}

poll();
