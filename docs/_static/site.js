// What the theme leaves out for people who read with the keyboard or by ear.
document.addEventListener("DOMContentLoaded", () => {
  const set = (selector, name, value) => document.querySelectorAll(selector).forEach((found) => found.setAttribute(name, value));
  set("p.caption[role=heading]", "aria-level", "2");
  set("aside.sidebar-drawer", "aria-label", "All pages");
  set("aside.toc-drawer", "aria-label", "This page");
  set("dt.sig dl, dt.sig dl > dd", "role", "presentation");
  set("pre, .table-wrapper", "tabindex", "0"); // they may scroll sideways
  document.querySelectorAll("th:empty, th > p:empty:only-child").forEach((found) => {
    const head = found.closest("th");
    const cell = document.createElement("td");
    cell.className = head.className;
    head.replaceWith(cell);
  });
});
