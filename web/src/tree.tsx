// The call tree: spans, and below them the functions that stack samples saw.
import { useMemo, useState } from "preact/hooks";
import { Icicle } from "./icicle";
import { Section } from "./parts";
import type { Tree } from "./payload";

export function TreeSection({ trees }: { trees: Tree[] }) {
  const [chosen, setChosen] = useState(0);
  const [functions, setFunctions] = useState(true);
  const tree = trees[chosen] ?? trees[0];
  const hidden = useMemo(() => new Set(functions ? [] : tree?.functions), [tree, functions]);
  if (tree === undefined) {
    return null;
  }
  return (
    <Section
      id="tree"
      title="Call tree"
      note="The width of a box is its time with all that is below it. Spans were timed; functions inside of them come from stack samples."
    >
      <div class="controls">
        {trees.length > 1 ? (
          <label>
            Of{" "}
            <select aria-label="Tree of" value={chosen} onChange={(event) => setChosen(Number(event.currentTarget.value))}>
              {trees.map((one, index) => (
                <option value={index}>{one.title}</option>
              ))}
            </select>
          </label>
        ) : (
          <span>{tree.title}</span>
        )}
        {tree.functions.length > 0 ? (
          <label>
            <input type="checkbox" checked={functions} onChange={(event) => setFunctions(event.currentTarget.checked)} />{" "}
            with functions
          </label>
        ) : null}
      </div>
      <Icicle boxes={tree.boxes} label={`Call tree: ${tree.title}`} hidden={hidden} />
      {tree.hidden ? <p class="note">{tree.hidden}.</p> : null}
    </Section>
  );
}
