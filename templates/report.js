// Sorts and filters the tables, and copies the commands. Without it everything can be read all the same.
(function () {
  "use strict";
  const LONG = 10;
  const collator = new Intl.Collator("en", { numeric: true });

  // A number where the cell has one; an absent one is last in both directions.
  function key(row, column) {
    const cell = row.cells[column];
    if (!cell) return { text: "" };
    const value = cell.dataset.value;
    if (value === undefined) return { text: cell.textContent.trim() };
    return { number: value === "" ? NaN : Number(value) };
  }

  function compare(a, b, sign) {
    if (a.text !== undefined || b.text !== undefined) return sign * collator.compare(a.text || "", b.text || "");
    if (Number.isNaN(a.number) || Number.isNaN(b.number)) return Number.isNaN(a.number) - Number.isNaN(b.number);
    return sign * (a.number - b.number);
  }

  function sort(table, header, column) {
    const ascending = header.getAttribute("aria-sort") !== "ascending";
    for (const other of header.parentNode.children) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    const body = table.tBodies[0];
    // A row that belongs to the one above it stays below it.
    const groups = [];
    for (const row of body.rows) {
      if (row.classList.contains("sub") && groups.length) groups[groups.length - 1].rows.push(row);
      else groups.push({ key: key(row, column), rows: [row] });
    }
    groups.sort((a, b) => compare(a.key, b.key, ascending ? 1 : -1));
    body.append(...groups.flatMap((group) => group.rows));
  }

  function sortable(table) {
    const headers = table.tHead.rows[0].cells;
    Array.from(headers).forEach((header, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      button.addEventListener("click", () => sort(table, header, column));
      header.append(button);
    });
  }

  function filterable(table, place) {
    const rows = Array.from(table.tBodies[0].rows);
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const line = document.createElement("div");
    const label = document.createElement("label");
    const field = document.createElement("input");
    const told = document.createElement("span");
    line.className = "filter";
    label.append("Filter ", field);
    field.type = "search";
    field.setAttribute("aria-label", "Filter: " + table.caption.textContent.trim());
    told.setAttribute("role", "status");
    told.setAttribute("aria-live", "polite");
    function tell(shown) {
      told.textContent = shown === rows.length ? rows.length + " rows" : shown + " of " + rows.length + " rows";
    }
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      rows.forEach((row, at) => {
        row.hidden = !words.every((word) => texts[at].includes(word));
        if (!row.hidden) shown += 1;
      });
      tell(shown);
    });
    tell(rows.length);
    line.append(label, told);
    place.before(line);
  }

  for (const table of document.querySelectorAll("table.data")) {
    const rows = table.tBodies[0].rows.length;
    if (rows > 1) sortable(table);
    if (rows > LONG) filterable(table, table.closest(".scroll"));
  }

  // Only what really scrolls is a stop of the Tab key.
  function stops() {
    for (const box of document.querySelectorAll(".scroll")) {
      const scrolls = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
      if (scrolls) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  }
  stops();
  addEventListener("resize", stops);
  addEventListener("toggle", stops, true);

  for (const block of document.querySelectorAll(".reproduce pre")) {
    const button = document.createElement("button");
    const told = document.createElement("span");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy the commands";
    told.className = "quiet";
    told.setAttribute("role", "status");
    button.addEventListener("click", () => {
      const text = block.textContent;
      const done = () => { told.textContent = " Copied."; };
      const byHand = () => {
        getSelection().selectAllChildren(block);
        told.textContent = document.execCommand("copy") ? " Copied." : " Selected: press Ctrl+C.";
      };
      if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, byHand);
      else byHand();
    });
    block.after(button, told);
  }
})();
