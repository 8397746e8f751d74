// What the page holds, unpacked; and elements made without ever reading text as markup.

const unpack = async (text) => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
};

const PIECE = 32; // pairs whose details lie together, as packing.py has it

// A pair's part of what lies packed under a name; null where that was left out of the page.
const partOf = async (name, number) => {
  const text = document.querySelectorAll(`script.${name}`)[Math.floor(number / PIECE)].textContent;
  return text ? (await unpack(text))[number % PIECE] : null;
};
const details = async (number) => {
  const [known, source] = await Promise.all([partOf("details", number), partOf("sources", number)]);
  return { ...known, source };
};

const make = (tag, attributes, ...children) => {
  const vector = tag === "svg" || tag === "line" || tag === "circle";
  const element = vector ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
};

// The places of a row's values, in the order of packing.py.
const [LEVEL, NUMBER, PROBLEM, ENTRANT, SAMPLE, STATUS, SPEEDUP, LOW, HIGH, TIME, BASELINE, ROOF, REASON, CHANGE] = Array(14).keys();

const MACHINE = new Set(["not_judged", "bad_problem", "skipped"]);
const kindOf = (status) => {
  if (status === "fast") return "good";
  if (status === "right") return "plain";
  return status === "not_a_kernel" || MACHINE.has(status) ? "warn" : "bad";
};

const digits = (value) => {
  if (value === null) return "";
  const size = Math.abs(value);
  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.0995 ? 2 : 3);
};
const times = (value) => (value === null ? "" : `${digits(value)}\u00d7`);
const range = (low, high) => (low === null || high === null ? "" : `${times(low)} to ${times(high)}`);
const micros = (value) => {
  if (value === null) return "";
  if (value >= 1e6) return `${digits(value / 1e6)} s`;
  return value >= 1e3 ? `${digits(value / 1e3)} ms` : `${digits(value)} \u00b5s`;
};

// An interval on a scale of doublings from 1/4 to 8, with a line at 1.
const across = (value) => 100 * Math.min(1, Math.max(0, (Math.log2(value) + 2) / 5));
const interval = () => {
  const one = across(1);
  return make("svg", { class: "interval", viewBox: "0 0 100 14", preserveAspectRatio: "none", "aria-hidden": "true" },
    make("line", { class: "one", x1: one, x2: one, y1: 0, y2: 14 }),
    make("line", { class: "span", y1: 7, y2: 7 }),
    make("line", { class: "mid", y1: 3, y2: 11, stroke: "currentColor", "stroke-width": 1.5 }));
};
const drawInterval = (svg, speedup, low, high) => {
  const [, span, mid] = svg.children;
  const shown = speedup !== null && low !== null && high !== null && speedup > 0;
  svg.style.visibility = shown ? "visible" : "hidden";
  if (!shown) return;
  span.setAttribute("x1", across(Math.max(low, 1e-9)) - 0.6); // as wide as can be seen
  span.setAttribute("x2", across(high) + 0.6);
  mid.setAttribute("x1", across(speedup));
  mid.setAttribute("x2", across(speedup));
};
