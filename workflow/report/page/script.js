"use strict";
// Everything here is a comfort: without it the page is whole, only not sortable.

const root = document.documentElement;

function remembered() {
  try { return localStorage.getItem("theme"); } catch { return null; } // no storage in some viewers
}

function isDark() {
  return root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
}

if (["dark", "light"].includes(remembered())) root.dataset.theme = remembered();

// --- theme ------------------------------------------------------------------------------------

function startTheme() {
  const button = document.getElementById("theme");
  const label = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch { /* for this visit only */ }
    label();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
  label();
  button.hidden = false;
}

// --- sorting ----------------------------------------------------------------------------------

function cellKey(row, column, kind) {
  const cell = row.children[column];
  if (kind === "text") return cell.querySelector("a").textContent.toLowerCase();
  return cell.dataset.value === "" ? null : Number(cell.dataset.value);
}

// Reference rows stay beneath the systems; cells without a value come last either way.
function sortBy(table, column, kind, direction) {
  for (const body of table.tBodies) {
    const rows = [...body.rows].filter((row) => !row.classList.contains("group"));
    const keyed = rows.map((row) => [cellKey(row, column, kind), row]);
    keyed.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      const order = kind === "text" ? a.localeCompare(b, "en") : a - b;
      return direction === "ascending" ? order : -order;
    });
    body.append(...keyed.map(([, row]) => row));
  }
}

function startSorting(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const first = head.dataset.key === "text" ? "ascending" : "descending";
      const second = first === "ascending" ? "descending" : "ascending";
      const direction = head.getAttribute("aria-sort") === first ? second : first;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", direction);
      sortBy(table, column, head.dataset.key, direction);
    });
  });
}

// --- filter -----------------------------------------------------------------------------------

function startFilter(table) {
  const form = document.getElementById("filter");
  const find = document.getElementById("find");
  const rows = [...table.querySelectorAll("tr[data-kind]")];
  const apply = () => {
    const words = find.value.trim().toLowerCase();
    const kinds = [...form.querySelectorAll("[name=kind]:checked")].map((box) => box.value);
    let shown = 0;
    for (const row of rows) {
      const named = row.cells[0].textContent.toLowerCase().includes(words);
      row.hidden = !(named && kinds.includes(row.dataset.kind));
      shown += !row.hidden;
    }
    for (const group of table.querySelectorAll("tbody.reference tr.group")) {
      group.hidden = !rows.some((row) => row.parentNode === group.parentNode && !row.hidden);
    }
    document.getElementById("shown").textContent = `${shown} of ${rows.length} rows`;
  };
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  apply();
  form.hidden = false;
}

// --- places -----------------------------------------------------------------------------------

// A link into a closed part opens it, and everything around it.
function openPlace() {
  let name;
  try { name = decodeURIComponent(location.hash.slice(1)); } catch { return; }
  const place = name && document.getElementById(name);
  if (!place) return;
  for (let part = place; part; part = part.parentElement) {
    if (part.tagName === "DETAILS") part.open = true;
  }
  const target = place.querySelector(":scope > summary") || place;
  place.scrollIntoView();
  if (target.matches("summary, [tabindex]")) target.focus({ preventScroll: true });
  document.querySelectorAll(".here").forEach((part) => part.classList.remove("here"));
  place.classList.add("here");
}

document.addEventListener("DOMContentLoaded", () => {
  const table = document.getElementById("summary");
  startTheme();
  startSorting(table);
  startFilter(table);
  addEventListener("hashchange", openPlace);
  document.addEventListener("click", (event) => { // the same link a second time
    const link = event.target.closest("a[href^='#']");
    if (link && link.getAttribute("href") === location.hash) openPlace();
  });
  openPlace();
});
