// The table of pairs: only the rows that can be seen exist, so ten thousand scroll as ten do.

const ROW = 33; // pixels: page.css gives a row 32 and a line
const SPARE = 8; // rows beyond both edges, so that none is missing while one scrolls

// The kinds are classes of page.css, which has the widths; "falls" is sorted from the top at first.
const columns = (data) => [
  { name: "#", kind: "c-number", value: (row) => row[LEVEL] * 1e6 + row[NUMBER], text: (row) => `${row[LEVEL]}/${row[NUMBER]}` },
  { name: "problem", kind: "c-problem", value: (row) => row[PROBLEM] },
  { name: "entrant", kind: "c-entrant", value: (row) => data.entrants[row[ENTRANT]] },
  { name: "sample", kind: "c-sample figure spare", value: (row) => row[SAMPLE] },
  { name: "status", kind: "c-status", value: (row) => row[STATUS] },
  { name: "speedup", kind: "c-speedup figure", falls: true, value: (row) => row[SPEEDUP], text: (row) => times(row[SPEEDUP]) },
  { name: "95 %", kind: "c-interval spare", falls: true, value: (row) => row[LOW] },
  { name: "time", kind: "c-time figure spare", falls: true, value: (row) => row[TIME], text: (row) => micros(row[TIME]) },
  { name: "roof", kind: "c-roof figure spare", falls: true, value: (row) => row[ROOF],
    text: (row) => (row[ROOF] === null ? "" : `${row[ROOF].toFixed(0)} %`) },
  ...(data.rows.some((row) => row[CHANGE]) ? [{ name: "since before", kind: "c-change spare", falls: true,
    value: (row) => (row[CHANGE] ? row[CHANGE][1] : null), text: (row) => changeWords(row) }] : []),
  { name: "why", kind: "c-why spare", value: (row) => row[REASON] || null, text: (row) => row[REASON] },
];

const changeWords = (row) => {
  if (!row[CHANGE]) return "";
  const [before, ratio, word] = row[CHANGE];
  if (word === "fixed" || word === "broke") return `${word}, was ${before}`;
  return ratio === null ? "" : `${times(ratio)} ${word}`;
};

const compare = (value, direction) => (a, b) => {
  const [left, right] = [value(a), value(b)];
  if (left === null || right === null) return (left === null) - (right === null); // what is missing comes last
  return direction * (left < right ? -1 : left > right ? 1 : 0);
};

class PairTable {
  constructor(data, open) {
    this.data = data;
    this.open = open;
    this.scroller = document.getElementById("scroller");
    this.table = document.getElementById("table");
    this.body = this.table.tBodies[0];
    this.columns = columns(data);
    this.haystack = data.rows.map((row) =>
      [row[PROBLEM], `${row[LEVEL]}/${row[NUMBER]}`, data.entrants[row[ENTRANT]], row[STATUS], row[REASON], changeWords(row)].join(" ").toLowerCase());
    this.order = data.rows.map((_, number) => number);
    this.sorted = null;
    this.here = 0;
    this.pool = [];
    this.head();
    this.above = make("tr", { class: "space", "aria-hidden": "true" }, make("td"));
    this.below = this.above.cloneNode(true);
    this.body.append(this.above, this.below);
    this.listen();
  }

  head() {
    const row = make("tr", { "aria-rowindex": 1 });
    for (const column of this.columns) {
      const button = make("button", { type: "button" }, column.name);
      const head = make("th", { scope: "col", class: column.kind }, button);
      button.addEventListener("click", () => this.sort(column));
      column.head = head;
      row.append(head);
    }
    this.table.tHead.append(row);
  }

  listen() {
    let waiting = false;
    this.scroller.addEventListener("scroll", () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => { waiting = false; this.draw(); });
    }, { passive: true });
    new ResizeObserver(() => this.draw()).observe(this.scroller);
    this.table.addEventListener("keydown", (event) => this.key(event));
    // What a cell has no room for is put together only when it is pointed at.
    this.body.addEventListener("mouseover", ({ target }) => {
      const cell = target.closest("tr[data-place] td");
      if (!cell) return;
      const row = this.data.rows[cell.parentElement.dataset.number];
      const spread = cell.classList.contains("c-interval") && row[LOW] !== null;
      cell.title = spread ? range(row[LOW], row[HIGH]) : cell.textContent;
    });
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("tr[data-place]");
      if (!row) return;
      this.here = Number(row.dataset.place);
      this.draw();
      this.open(this.order[this.here]);
    });
  }

  key(event) {
    if (event.target !== this.table) return;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / ROW) - 2);
    const last = this.order.length - 1;
    const moves = { ArrowDown: this.here + 1, ArrowUp: this.here - 1, PageDown: this.here + page, PageUp: this.here - page, Home: 0, End: last };
    if (event.key in moves) this.go(Math.min(last, Math.max(0, moves[event.key])));
    else if (event.key === "Enter" && last >= 0) this.open(this.order[this.here]);
    else return;
    event.preventDefault();
  }

  go(place) {
    this.here = place;
    const top = place * ROW;
    const room = this.scroller.clientHeight - this.table.tHead.offsetHeight;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    else if (top + ROW > this.scroller.scrollTop + room) this.scroller.scrollTop = top + ROW - room;
    this.draw();
  }

  sort(column) {
    const [before, direction] = this.sorted || [null, 0];
    this.sorted = [column, before === column ? -direction : column.falls ? -1 : 1];
    for (const each of this.columns) each.head.removeAttribute("aria-sort");
    column.head.setAttribute("aria-sort", this.sorted[1] > 0 ? "ascending" : "descending");
    this.arrange(this.order);
  }

  filter(terms, wanted) {
    const words = terms.toLowerCase().split(/\s+/).filter(Boolean);
    const kept = [];
    this.data.rows.forEach((row, number) => {
      if (wanted(row) && words.every((word) => this.haystack[number].includes(word))) kept.push(number);
    });
    this.arrange(kept);
  }

  arrange(numbers) {
    const rows = this.data.rows;
    this.order = [...numbers].sort((a, b) => a - b);
    if (this.sorted) {
      const [column, direction] = this.sorted;
      const by = compare((number) => column.value(rows[number]), direction);
      this.order.sort((a, b) => by(a, b) || a - b);
    }
    this.here = 0;
    this.scroller.scrollTop = 0;
    this.table.setAttribute("aria-rowcount", this.order.length + 1);
    this.draw();
  }

  draw(everything = false) {
    const count = this.order.length;
    const first = everything ? 0 : Math.max(0, Math.floor(this.scroller.scrollTop / ROW) - SPARE);
    const seen = everything ? count : Math.ceil(this.scroller.clientHeight / ROW) + 2 * SPARE;
    const shown = Math.min(seen, Math.max(0, count - first));
    this.resize(shown);
    this.turn(first - (this.first || 0));
    this.first = first;
    this.pool.forEach((row, index) => this.fill(row, first + index));
    this.above.firstChild.style.height = `${first * ROW}px`;
    this.below.firstChild.style.height = `${(count - first - shown) * ROW}px`;
    const active = this.pool[this.here - first];
    if (active) this.table.setAttribute("aria-activedescendant", active.id);
    else this.table.removeAttribute("aria-activedescendant");
  }

  resize(count) {
    while (this.pool.length > count) this.pool.pop().remove();
    while (this.pool.length < count) {
      this.pool.push(this.blank());
      this.body.insertBefore(this.pool[this.pool.length - 1], this.below);
    }
  }

  // Rows that left at one end come in at the other, so that those that stay are not touched.
  turn(by) {
    if (!by || Math.abs(by) >= this.pool.length) return;
    const moved = by > 0 ? this.pool.splice(0, by) : this.pool.splice(by);
    if (by > 0) {
      this.pool.push(...moved);
      this.below.before(...moved);
    } else {
      this.pool.unshift(...moved);
      this.above.after(...moved);
    }
  }

  blank() {
    const cells = this.columns.map((column) => {
      const cell = make("td", { class: column.kind });
      if (column.name === "95 %") cell.append(interval());
      return cell;
    });
    return make("tr", {}, ...cells);
  }

  fill(element, place) {
    const number = this.order[place];
    element.classList.toggle("here", place === this.here);
    element.setAttribute("aria-selected", place === this.here);
    if (element.dataset.place === String(place) && element.dataset.number === String(number)) return;
    const row = this.data.rows[number];
    element.dataset.place = place;
    element.dataset.number = number;
    element.id = `row-${number}`;
    element.setAttribute("aria-rowindex", place + 2);
    this.columns.forEach((column, index) => {
      const cell = element.cells[index];
      if (column.name === "95 %") {
        drawInterval(cell.firstChild, row[SPEEDUP], row[LOW], row[HIGH]);
        return;
      }
      const text = column.text ? column.text(row) : column.value(row);
      cell.textContent = text === null ? "" : text;
      if (column.name === "status") cell.className = `c-status status ${kindOf(row[STATUS])}`;
    });
  }
}
