// Places on a drawing that is 1000 wide and as high as told.
import { area, curveStepAfter, line, stack } from "d3-shape";

export const WIDTH = 1000;

/** One outline per series, stacked from the bottom, for values between two edges each. */
export function stacked(edges: number[], series: number[][], height: number): string[] {
  const cells = edges.slice(0, -1).map((_, cell) => cell);
  const layers = stack<number, number>()
    .keys(series.map((_, index) => index))
    .value((cell, key) => series[key]?.[cell] ?? 0)(cells);
  const outline = area<[number, number]>()
    .x((_, index) => (edges[index] ?? 1) * WIDTH)
    .y0(([low]) => (1 - Math.min(low, 1)) * height)
    .y1(([, high]) => (1 - Math.min(high, 1)) * height)
    .curve(curveStepAfter);
  return layers.map((layer) => {
    const points = layer.map(([low, high]): [number, number] => [low, high]);
    const last = points[points.length - 1];
    return outline(last === undefined ? points : [...points, last]) ?? "";
  });
}

/** A curve through points whose places are between 0 and 1. */
export function curve(x: number[], y: number[], height: number): string {
  const path = line<number>()
    .x((at) => at * WIDTH)
    .y((_, index) => (1 - (y[index] ?? 0)) * height);
  return path(x) ?? "";
}

/** The same for values that hold between two edges each. */
export function steps(edges: number[], values: number[], height: number): string {
  const last = values[values.length - 1];
  const path = line<number>()
    .x((at) => at * WIDTH)
    .y((_, index) => (1 - (values[index] ?? last ?? 0)) * height)
    .curve(curveStepAfter);
  return path(edges) ?? "";
}
