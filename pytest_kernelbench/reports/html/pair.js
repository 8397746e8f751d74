// One pair, opened: why it ended as it did, its figures, its source, and its past.

const section = (title, ...children) => [make("h3", {}, title), ...children];

const list = (texts, kind) => make("ul", { class: kind }, ...texts.map((text) => make("li", {}, text)));

const cells = (tag, texts) => make("tr", {}, ...texts.map((text) => make(tag, tag === "th" ? { scope: "col" } : {}, text)));

const grid = (heads, rows) => make("div", { class: "wide" },
  make("table", {}, make("thead", {}, cells("th", heads)), make("tbody", {}, ...rows.map((row) => cells("td", row)))));

const measured = (found) => {
  const names = { "": (one) => `against ${one.baseline}`, previous: () => "against its earlier source", control: () => "A/A control" };
  const rows = found.map((one) => {
    const svg = interval();
    drawInterval(svg, one.speedup, one.low, one.high);
    return [names[one.of](one), times(one.speedup), range(one.low, one.high), svg, micros(one.time_us), micros(one.baseline_us),
      micros(one.null_us), `${one.turns} \u00d7 ${Math.round(one.calls / Math.max(1, one.turns))}`,
      one.percent_of_roof === null ? "" : `${one.percent_of_roof.toFixed(0)} %`, one.floor_us === null ? "" : micros(one.floor_us)];
  });
  const notes = found.flatMap((one) => one.notes);
  return section("Time",
    grid(["", "speedup", "95 %", "\u00bc to 8", "time", "baseline", "protocol", "turns \u00d7 calls", "of roof", "floor"], rows),
    notes.length ? list(notes) : null, turns(found[0]));
};

const turns = (one) => {
  if (!one.times_us.length) return null;
  const text = (values) => values.map((value) => (value === null ? "-" : digits(value))).join(", ");
  return make("p", { class: "note" }, `Turns, \u00b5s a call: ${text(one.times_us)}; baseline: ${text(one.baseline_times_us)}.`);
};

// Lines of its own file that an error names.
const namedLines = (detail, path) => {
  const file = path.split("/").pop().replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const found = new Set();
  for (const match of detail.matchAll(new RegExp(`${file}(?::|", line |\\()(\\d+)`, "g"))) found.add(Number(match[1]));
  return found;
};

const source = (text, hits) => make("pre", { class: "code", tabindex: 0, "aria-label": "source" },
  ...text.replace(/\n$/, "").split("\n").map((line, index) => make("span", { class: hits.has(index + 1) ? "hit" : null }, line || " ")));

const sourceSection = (known, hits) => {
  if (known.source) return section(`Source: ${known.solution}`, source(known.source, hits));
  const why = known.source === null ? "was left out to keep this page small: fewer pairs in a report leave room for it" : "is not in the record";
  return section("Source", make("p", { class: "note" }, `The source of ${known.solution} ${why}.`));
};

const past = (history, runs) => {
  let before = null;
  const rows = history.map(([run, at, status, speedup, low, high, hash]) => {
    const same = !hash ? "" : before === null ? hash : hash === before ? "the same" : hash;
    before = hash || before;
    return [runs[run], at.slice(0, 16).replace("T", " "), status, times(speedup), range(low, high), same];
  });
  return section("History", grid(["run", "judged (UTC)", "status", "speedup", "95 %", "source"], rows));
};

const circumstances = (known) => {
  const kernels = Object.entries(known.kernels || {}).sort((a, b) => b[1] - a[1]).slice(0, 12);
  const origin = known.provenance || {};
  const facts = [
    ["node id", known.nodeid],
    ["judged on", [known.device, known.size, known.dtype].filter(Boolean).join(", ")],
    ["judged at", origin.judged_at ? origin.judged_at.slice(0, 19).replace("T", " ") : ""],
    ["torch", origin.torch || ""],
    ["rounds of agreement", known.rounds || ""],
    ["built in", known.build_s ? `${digits(known.build_s)} s${known.build_cached ? ", from the cache" : ""}` : ""],
    ["judged in", known.judge_s ? `${digits(known.judge_s)} s` : ""],
    ["kernels", kernels.map(([name, share]) => `${(100 * share).toFixed(0)} % ${name}`).join("; ")],
    ["walls", (known.walls || []).join(", ")],
    ["walls that are missing", (known.missing_walls || []).join("; ")],
    ["log", known.log || ""],
  ];
  const shown = facts.filter(([, text]) => text !== "");
  return section("Circumstances", make("dl", { class: "facts" },
    ...shown.map(([term, text]) => make("div", {}, make("dt", {}, term), make("dd", {}, text)))));
};

class PairDialog {
  constructor(data, order) {
    this.data = data;
    this.order = order;
    this.dialog = document.getElementById("pair");
    this.dialog.addEventListener("click", (event) => { if (event.target === this.dialog) this.dialog.close(); });
    this.dialog.addEventListener("close", () => history.replaceState(null, "", location.pathname + location.search));
    this.dialog.addEventListener("keydown", (event) => {
      if (event.target.tagName === "PRE") return;
      if (event.key === "ArrowLeft") this.step(-1);
      if (event.key === "ArrowRight") this.step(1);
    });
  }

  async show(number) {
    const row = this.data.rows[number];
    if (!row) return;
    this.number = number;
    const known = await details(number);
    if (this.number !== number) return; // another was asked for meanwhile
    const sample = row[SAMPLE] ? ` sample ${row[SAMPLE]}` : "";
    const button = (words, step) => {
      const element = make("button", { type: "button" }, words);
      element.addEventListener("click", () => this.step(step));
      return element;
    };
    const close = make("button", { type: "button" }, "Close");
    close.addEventListener("click", () => this.dialog.close());
    const bar = make("div", { class: "bar" },
      make("h2", { id: "pair-title", tabindex: -1 }, `${row[LEVEL]}/${row[NUMBER]} ${row[PROBLEM]} by ${this.data.entrants[row[ENTRANT]]}${sample}`),
      make("span", { class: `status ${kindOf(row[STATUS])}` }, row[STATUS]), button("Previous", -1), button("Next", 1), close);
    const hits = namedLines([...(known.reasons || []), known.detail || ""].join("\n"), known.solution || "");
    const repeats = known.detail && known.detail === (known.reasons || [])[0];
    this.dialog.replaceChildren(...[bar,
      known.reasons ? list(known.reasons, "reasons") : null,
      ...(known.detail && !repeats ? [make("pre", { tabindex: 0, "aria-label": "what went wrong" }, known.detail)] : []),
      ...(known.measurements.length ? measured(known.measurements) : []),
      ...(known.notes ? section("Notes", list(known.notes)) : []),
      ...(known.history.length ? past(known.history, this.data.runs) : []),
      ...sourceSection(known, hits),
      ...circumstances(known)].filter(Boolean));
    if (!this.dialog.open) this.dialog.showModal();
    this.dialog.scrollTop = 0;
    document.getElementById("pair-title").focus();
    history.replaceState(null, "", `#r${number}`);
  }

  step(by) {
    const order = this.order();
    const place = order.indexOf(this.number) + by;
    if (place >= 0 && place < order.length) this.show(order[place]);
  }
}
