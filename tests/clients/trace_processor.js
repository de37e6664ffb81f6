// Perfetto's own trace processor, outside of a browser. The UI's engine is made for a web worker: here it finds what it
// asks of one (files by XMLHttpRequest, a port to talk through), and its messages go by standard input and output.
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const folder = process.argv[2];

class LocalFile {
  open(_method, address) {
    this.file = path.join(folder, path.basename(address));
  }
  send() {
    this.status = 200;
    this.response = Uint8Array.from(fs.readFileSync(this.file)).buffer;
  }
}

const say = (...words) => process.stderr.write(`${words.join(" ")}\n`);
const worker = {
  console: { log: say, info: say, warn: say, error: say, debug: say },
  location: { href: `file://${folder}/engine_bundle.js` },
  XMLHttpRequest: LocalFile,
  WorkerGlobalScope: function () {},
  importScripts: () => {},
};
// Everything else of a worker is node's own: arrays that the engine makes must be of the kind its memory is made of.
const arrays = ["Int8", "Uint8", "Int16", "Uint16", "Int32", "Uint32", "Float32", "Float64", "BigInt64", "BigUint64"];
const borrowed = [...arrays.map((kind) => `${kind}Array`), "ArrayBuffer", "WebAssembly", "TextDecoder", "TextEncoder", "URL",
  "performance", "crypto", "setTimeout", "clearTimeout", "setInterval", "clearInterval", "Error", "TypeError", "RangeError"];
for (const name of borrowed) worker[name] = globalThis[name];
worker.self = worker.globalThis = worker;
vm.createContext(worker);
vm.runInContext(fs.readFileSync(path.join(folder, "engine_bundle.js"), "utf8"), worker);

const port = { onmessage: null, postMessage: (bytes) => fs.writeSync(1, Buffer.from(bytes)) };
worker.onmessage({ data: port });
process.stdin.on("data", (chunk) => port.onmessage({ data: new Uint8Array(chunk) }));
process.stdin.on("end", () => process.exit(0));
