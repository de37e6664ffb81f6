// Builds the page into the Python package, with a fingerprint of what it was built from: a test holds the two together.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const assets = process.argv[2] ?? join(here, "..", "src", "rlprof", "render", "page", "assets");

function fingerprint() {
  const sources = readdirSync(join(here, "src")).map((name) => `src/${name}`);
  const files = [...sources, "build.mjs", "package.json", "package-lock.json", "tsconfig.json"].sort();
  const digest = createHash("sha256");
  for (const file of files) {
    digest.update(`${file}\0`).update(readFileSync(join(here, file))).update("\0");
  }
  return digest.digest("hex");
}

// The libraries in the bundle ask for their notices to go with every copy, and every report is one.
const libraries = ["preact", "d3-shape", "d3-path"];
const notices = libraries.map((name) => {
  const text = readFileSync(join(here, "node_modules", name, "LICENSE"), "utf8");
  return `${name}\n${text.trim()}`;
});

const common = { bundle: true, minify: true, charset: "ascii", legalComments: "none", absWorkingDir: here };
await build({
  ...common,
  entryPoints: ["src/main.tsx"],
  outfile: join(assets, "report.js"),
  format: "iife",
  target: "es2020",
  jsx: "automatic",
  jsxImportSource: "preact",
  banner: { js: `/*!\n${notices.join("\n\n").replaceAll("*/", "* /")}\n*/` },
  define: { "process.env.NODE_ENV": '"production"' },
});
await build({ ...common, entryPoints: ["src/style.css"], outfile: join(assets, "report.css") });
for (const name of ["report.js", "report.css"]) {
  const text = readFileSync(join(assets, name), "utf8");
  if (/<\/(script|style)/i.test(text) || text.includes("<!--")) {
    throw new Error(`${name} could end the element that it is put in`);
  }
}
writeFileSync(join(assets, "built-from.txt"), `${fingerprint()}\n`);
