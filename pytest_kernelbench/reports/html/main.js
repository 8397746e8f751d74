// Brings the page to life: the table with its filters, the theme, and the keys of the pictures.

const choices = (select, all, values, words = (value) => value) => {
  select.append(make("option", { value: "" }, all), ...values.map((value) => make("option", { value }, words(value))));
};

const statuses = (rows) => {
  const counts = new Map();
  for (const row of rows) counts.set(row[STATUS], (counts.get(row[STATUS]) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
};

const addFilters = (data, table) => {
  const field = (name) => document.getElementById(name);
  choices(field("level"), "all", [...new Set(data.rows.map((row) => row[LEVEL]))].sort((a, b) => a - b));
  choices(field("entrant"), "all", [...data.entrants.keys()], (number) => data.entrants[number]);
  const counts = new Map(statuses(data.rows));
  choices(field("status"), "all", ["right or fast", "not right", ...counts.keys()],
    (status) => (counts.has(status) ? `${status} (${counts.get(status)})` : status));
  const changes = [...new Set(data.rows.map((row) => (row[CHANGE] ? row[CHANGE][2] : "")).filter(Boolean))].sort();
  choices(field("change"), "all", changes);
  field("change-label").hidden = !changes.length;
  const fits = { "": () => true, "right or fast": (row) => ["good", "plain"].includes(kindOf(row[STATUS])),
    "not right": (row) => !["good", "plain"].includes(kindOf(row[STATUS])) };
  const apply = () => {
    const [level, entrant, status, change] = ["level", "entrant", "status", "change"].map((name) => field(name).value);
    const ends = fits[status] || ((row) => row[STATUS] === status);
    table.filter(field("search").value, (row) => ends(row) && (!level || row[LEVEL] === Number(level)) &&
      (!entrant || row[ENTRANT] === Number(entrant)) && (!change || (row[CHANGE] && row[CHANGE][2] === change)));
    const [shown, all] = [table.order.length, data.rows.length].map((count) => count.toLocaleString("en"));
    field("count").textContent = shown === all ? `${all} pairs` : `${shown} of ${all} pairs`;
  };
  const form = field("filters");
  form.addEventListener("input", apply);
  form.addEventListener("change", apply); // all that some ways of choosing tell of
  form.addEventListener("submit", (event) => event.preventDefault());
  apply();
  for (const id of ["filters", "scroller", "keys"]) field(id).hidden = false;
};

// A series is hidden in all pictures by a press on its name.
const addKeys = () => {
  for (const [slot, item] of [...document.querySelectorAll(".legend li")].entries()) {
    const button = make("button", { type: "button", "aria-pressed": "true" }, ...item.childNodes);
    button.addEventListener("click", () => {
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", shown);
      const series = `s${Math.min(slot + 1, 8)}`;
      for (const mark of document.querySelectorAll(`figure .k-${series}, figure .f-${series}`)) {
        mark.style.visibility = shown ? "" : "hidden";
      }
    });
    item.replaceChildren(button);
  }
};

const addTheme = () => {
  const button = document.getElementById("theme");
  const themes = ["system", "light", "dark"];
  const keep = (theme) => { try { localStorage.setItem("kernelbench-theme", theme); } catch { /* a page without storage forgets */ } };
  const kept = () => { try { return localStorage.getItem("kernelbench-theme"); } catch { return null; } };
  const apply = (theme) => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
    button.value = theme;
  };
  apply(themes.includes(kept()) ? kept() : "system");
  button.addEventListener("click", () => {
    const next = themes[(themes.indexOf(button.value) + 1) % themes.length];
    apply(next);
    keep(next);
  });
  button.hidden = false;
};

const MOST_PRINTED = 2000; // rows; more is a book

const start = async () => {
  addTheme();
  addKeys();
  const data = await unpack(document.getElementById("rows").textContent);
  let table = null;
  const dialog = new PairDialog(data, () => table.order);
  table = new PairTable(data, (number) => dialog.show(number));
  addFilters(data, table);
  const follow = () => {
    const match = /^#r(\d+)$/.exec(location.hash);
    if (match) dialog.show(Number(match[1]));
  };
  addEventListener("hashchange", follow);
  addEventListener("beforeprint", () => { if (table.order.length <= MOST_PRINTED) table.draw(true); });
  addEventListener("afterprint", () => table.draw());
  follow();
};

start().catch((error) => {
  const note = make("p", { class: "note bad" }, `The table cannot be shown here: ${error.message}`);
  document.getElementById("pairs").append(note);
});
